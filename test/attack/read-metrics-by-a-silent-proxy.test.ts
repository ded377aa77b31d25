import { expect, test } from "bun:test";
import { request } from "node:http";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";

/** A proxy that copies bytes and adds no headers, like `ssh -R` and nginx's `stream`. */
async function silentProxy(port: number) {
  const proxy = createServer((client) => {
    const upstream = connect(port, "127.0.0.1");
    for (const side of [client, upstream]) side.on("error", () => {});
    client.pipe(upstream).pipe(client);
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => proxy.once("listening", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return { port: address.port, [Symbol.asyncDispose]: async () => void proxy.close() };
}

/** Sends a request with the server's own host name. */
function ask(port: number, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = { port, host: "127.0.0.1", path: "/api/metrics", agent: false } as const;
    const call = request(
      { ...options, headers: { host: "localhost:7733", ...headers } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      },
    );
    call.once("error", reject);
    call.end();
  });
}

test("a stranger can't read metrics through a proxy on the server's machine that adds no headers", async () => {
  const dataDir = temporaryFolder();
  const { key } = await addAccountTo(dataDir);
  await using server = spawnServer(dataDir, "real");
  const port = Number(new URL(await server.origin()).port);
  await using proxy = await silentProxy(port);
  for (const each of [port, proxy.port]) {
    expect(await ask(each)).toBe(401);
    expect(await ask(each, { authorization: `Bearer ${key}` })).toBe(200);
  }
  // Only the user who runs the server, and root, can open the socket.
  const unix = join(dataDir, "ctxd.sock");
  const local = await fetch("http://localhost/api/metrics", { unix });
  expect(await local.text()).toContain("# HELP ctxd_http_requests_total");
});
