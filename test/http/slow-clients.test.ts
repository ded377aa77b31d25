import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { readChunks } from "../../src/http/requests/body.ts";
import { createLog } from "../../src/log.ts";
import { rejectionOf } from "../support/outcome.ts";
import { startServer, type TestServer } from "../support/server.ts";

const lines: string[] = [];
const log = createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line));
let server: TestServer;
const sockets: Socket[] = [];
beforeAll(async () => {
  server = await startServer({ log });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  await server.close();
});

/** Opens a connection, sends this text, and reads the answer or not. */
async function open(bytes: string, reads = true): Promise<Socket> {
  const socket = connect(server.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {});
  await new Promise<void>((resolve) => socket.once("connect", resolve));
  if (!reads) socket.pause();
  socket.write(bytes);
  return socket;
}

const HEAD = "Host: localhost\r\n";
const LATE = { code: "malformed_request", message: expect.stringContaining("not arrive in time") };

test("1,000 slow and half-open connections do not block other clients", async () => {
  const account = await server.account();
  await account.save({ content: "still there" });
  const form = "Content-Type: application/x-www-form-urlencoded\r\n";
  const json = `Authorization: Bearer ${account.key}\r\nContent-Type: application/json\r\n`;
  const slow = [
    "",
    "GET /api/health HT",
    `GET /api/memories HTTP/1.1\r\n${HEAD}X-Header: `,
    `POST /token HTTP/1.1\r\n${HEAD}${form}Content-Length: 50000\r\n\r\na=`,
    `POST /api/memories HTTP/1.1\r\n${HEAD}${json}Content-Length: 50000\r\n\r\n{"content": "`,
    `POST /api/memories HTTP/1.1\r\n${HEAD}${json}Transfer-Encoding: chunked\r\n\r\n5\r\n{"co`,
    `POST /api/memories/import HTTP/1.1\r\n${HEAD}${json}Transfer-Encoding: chunked\r\n\r\n3\r\n{"c`,
  ];
  await Promise.all(Array.from({ length: 950 }, (_, n) => open(slow[n % slow.length] ?? "")));
  // These clients do not read their answers, twenty of several megabytes each.
  const page = await (await fetch(`${server.origin}/docs`)).text();
  const [, script = ""] = /<script src="([^"]+)"/.exec(page) ?? [];
  const asset = `GET ${script} HTTP/1.1\r\n${HEAD}\r\n`.repeat(20);
  await Promise.all(Array.from({ length: 50 }, () => open(asset, false)));

  for (let count = 0; count < 20; count++) {
    expect(await account.search("still there", { limit: 1 })).toHaveLength(1);
    await account.save({ content: `memory ${count}` });
  }
  expect((await fetch(`${server.origin}/api/health`)).status).toBe(200);
});

test("a client that disconnects during a body does not count as a failure of the server", async () => {
  const { key } = await server.account();
  lines.length = 0;
  const request = `POST /api/memories HTTP/1.1\r\n${HEAD}Authorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`;
  const socket = await open(request);
  // The answer shows that the server has read the incomplete request before the connection closes.
  await fetch(`${server.origin}/api/health`);
  socket.destroy();
  await server.account().then((account) => account.save({ content: "afterwards" }));
  expect(lines).toEqual([]);
});

describe("a body", () => {
  const timeLimit = { base: 100, bytesPerMs: 1 };
  const bytes = (length: number) => new Uint8Array(length);

  /** Reads a body whose parts arrive one after the other, each after a pause in milliseconds. */
  async function read(parts: readonly [pause: number, bytes: number][], rest = 0) {
    let wasCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        for (const [pause, length] of parts) {
          await Bun.sleep(pause);
          if (wasCancelled) return;
          controller.enqueue(bytes(length));
        }
        if (rest === 0) controller.close();
      },
      cancel() {
        wasCancelled = true;
      },
    });
    let length = 0;
    for await (const chunk of readChunks({ body }, timeLimit)) length += chunk.length;
    return length;
  }

  test("that arrives slowly but steadily is read", async () => {
    const parts = Array.from({ length: 10 }, () => [30, 1_000] as [number, number]);
    expect(await read(parts)).toBe(10_000);
  });

  test("that stops is aborted", async () => {
    expect(await rejectionOf(read([[0, 10]], 1))).toMatchObject(LATE);
  });

  test("that stops after much has arrived is aborted as soon", async () => {
    expect(await rejectionOf(read([[0, 100_000]], 1))).toMatchObject(LATE);
  });

  test("of single bytes is aborted", async () => {
    expect(await rejectionOf(read(Array.from({ length: 50 }, () => [20, 1])))).toMatchObject(LATE);
  });

  test("has no time limit while the server reads it slowly", async () => {
    const body = new Blob([bytes(10), bytes(10)]).stream();
    let length = 0;
    for await (const chunk of readChunks({ body }, { base: 50, bytesPerMs: 1_000 })) {
      await Bun.sleep(100);
      length += chunk.length;
    }
    expect(length).toBe(20);
  });
});
