import { expect, test } from "bun:test";
import { connect } from "node:net";
import { rawRequest } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });
const JSON_TYPE = { "content-type": "application/json" };

/** Sends a request and reads until the server closes the connection. @returns the status line */
function untilClosed(port: number, request: Uint8Array): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket
      .on("data", (chunk) => chunks.push(chunk))
      // A reset closes it too.
      .on("error", () => {})
      .on("close", () => resolve(Buffer.concat(chunks).toString().split("\r\n")[0] ?? ""));
  });
}

test("an idle connection without a valid key is closed", async () => {
  await using server = await startServer({ idleTimeout: 1 });
  const port = Number(new URL(server.origin).port);
  const open = { connection: "keep-alive", ...JSON_TYPE };
  const requests = [
    rawRequest("GET /mcp", open),
    rawRequest("POST /mcp", { ...open, "content-length": String(PING.length) }, PING),
    rawRequest("POST /mcp", { ...open, "content-length": "100" }, "{"),
    rawRequest("POST /api/memories", { ...open, "content-length": "100" }, "{"),
  ];
  const statuses = await Promise.all(requests.map((request) => untilClosed(port, request)));
  expect(statuses).toEqual(requests.map(() => "HTTP/1.1 401 Unauthorized"));
});
