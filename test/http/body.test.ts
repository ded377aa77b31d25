import { afterAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { MAX_BATCH } from "../../src/memories/model/memory.ts";
import { expectError } from "../support/errors.ts";
import { rawRequest, sendRaw } from "../support/raw-http.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const ada = await server.account();
const { id } = await ada.save({ content: "x" });

const JSON_TYPE = { "content-type": "application/json" };
const MIB = 1 << 20;
const ROUTES = [
  ["POST", "/memories"],
  ["POST", "/memories/batch"],
  ["PUT", `/memories/${id}`],
] as const;
const LIMITED = [
  ["POST", "/memories", MIB],
  ["PUT", `/memories/${id}`, MIB],
  ["POST", "/memories/batch", MAX_BATCH.bytes],
] as const;

const tooLarge = { status: 413, code: "too_large" } as const;

test.each([
  "",
  " ",
  "{",
  '{"content":"x"',
  '{"content":"x"}}',
  "{'content':'x'}",
  '{"content":"x",}',
  '{"content":NaN}',
  "undefined",
  "\ufeff\ufeff{}",
  new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  new TextEncoder().encode('{"content":"\ud83e').slice(0, -1),
])("what is no JSON in UTF-8 is malformed: %j", async (body) => {
  for (const [method, path] of ROUTES) {
    const answer = await ada.send(method, path, { body, headers: JSON_TYPE });
    expectError(answer, { status: 400, code: "malformed_json" });
  }
});

test.each([
  null,
  "text/plain",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "application/jsonp",
  "application/ld+json",
  "text/json",
  ";application/json",
])("another content type is refused: %s", async (type) => {
  for (const [method, path] of ROUTES) {
    const headers: Record<string, string> = type === null ? {} : { "content-type": type };
    const body = new TextEncoder().encode('{"content":"x"}');
    const answer = await ada.send(method, path, { body, headers });
    expectError(answer, { status: 415, code: "unsupported_media_type" });
  }
});

test("a compressed body is refused", async () => {
  const body = Bun.gzipSync('{"content":"x"}');
  const headers = { ...JSON_TYPE, "content-encoding": "gzip" };
  const answer = await ada.send("POST", "/memories", { body, headers });
  expectError(answer, { status: 415, code: "unsupported_media_type" });
});

test("the content type is accepted in upper and lower case, with any parameters", async () => {
  for (const type of [
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/json ;x=y",
  ]) {
    const headers = { "content-type": type };
    const answer = await ada.send("POST", "/memories", {
      body: JSON.stringify({ content: type }),
      headers,
    });
    expect(answer.status).toBe(201);
  }
});

test.each(LIMITED)("%s %s accepts %d bytes, but not one more", async (method, path, limit) => {
  // The body was read to its end, and is refused only for its content.
  const largest = await ada.send(method, path, { body: " ".repeat(limit), headers: JSON_TYPE });
  expectError(largest, { status: 400, code: "malformed_json" });
  const beyond = await ada.send(method, path, { body: " ".repeat(limit + 1), headers: JSON_TYPE });
  expectError(beyond, tooLarge);
});

test.each(LIMITED.slice(0, 2))(
  "%s %s counts the bytes of a chunked body",
  async (method, path, limit) => {
    const chunks = (count: number) =>
      new ReadableStream({
        type: "bytes",
        async pull(controller) {
          if (count-- === 0) controller.close();
          else controller.enqueue(new Uint8Array(limit / 16).fill(0x20));
        },
      });
    const largest = await ada.send(method, path, { body: chunks(16), headers: JSON_TYPE });
    expectError(largest, { status: 400, code: "malformed_json" });
    const beyond = await ada.send(method, path, { body: chunks(17), headers: JSON_TYPE });
    expectError(beyond, tooLarge);
  },
);

test("a batch may have more values than one memory, up to a limit", async () => {
  const tags = Array.from({ length: 32 }, (_, n) => `tag ${n}`);
  const batchOf = (numbers: number) => ({
    memories: Array.from({ length: 256 }, (_, n) => ({
      ...{ content: `${n}`, tags },
      metadata: { numbers: new Array(numbers).fill(n) },
    })),
  });
  const answer = await ada.send("POST", "/memories/batch", { json: batchOf(150) });
  expect(answer.status).toBe(201);
  expectError(await ada.send("POST", "/memories/batch", { json: batchOf(200) }), tooLarge);
});

test("a client with a body that is too large receives the reason, and the server keeps running", async () => {
  const size = 128 * MIB;
  for (const [method, path] of ROUTES) {
    const answer = await ada.send(method, path, { body: new Uint8Array(size), headers: JSON_TYPE });
    expectError(answer, tooLarge);
  }
  expect((await ada.get(id)).id).toBe(id);
});

test("a body is refused before it arrives if its Content-Length is too large", async () => {
  const headers = {
    ...JSON_TYPE,
    authorization: `Bearer ${ada.key}`,
    "content-length": String(100 * MIB),
  };
  const { status, body } = await sendRaw(server.port, rawRequest("POST /api/memories", headers));
  expectError({ status, body: JSON.parse(body) }, tooLarge);
});

test("an endless body is stopped soon after the limit", async () => {
  const sent = await new Promise<number>((resolve) => {
    let bytes = 0;
    const chunk = `10000\r\n${"x".repeat(0x10000)}\r\n`;
    const socket = connect(server.port, "127.0.0.1", () => {
      const headers = { ...JSON_TYPE, authorization: `Bearer ${ada.key}` };
      socket.write(
        rawRequest("POST /api/memories", { ...headers, "transfer-encoding": "chunked" }),
      );
      const send = () => {
        while (!socket.destroyed && bytes < 256 * MIB) {
          bytes += chunk.length;
          if (!socket.write(chunk)) return;
        }
      };
      socket.on("drain", send);
      send();
    });
    const end = () => {
      socket.destroy();
      resolve(bytes);
    };
    socket.on("data", end).on("close", end).on("error", end);
  });
  expect(sent).toBeLessThan(128 * MIB);
});
