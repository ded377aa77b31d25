import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_BATCH } from "../../src/memories/model/memory.ts";
import { hostileRequests } from "../stalls/hostile-requests.ts";
import { measureParsing } from "../stalls/measure-parsing.ts";
import { type ProbedServer, startProbedServer } from "../stalls/probed-server.ts";
import { createClient } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { sendRaw } from "../support/raw-http.ts";

/**
 * The requests of `test/stalls/stalls.ts` that once blocked a server the longest. On a quiet machine of
 * 2026 none takes more than 50 ms.
 */
const WORST = [
  "POST /memories: open brackets",
  "POST /memories: distinct names",
  "POST /memories/batch: items with unknown fields",
  "POST /memories/batch: 256 items of unknown fields",
  "POST /memories/batch: distinct names",
  'POST /memories/batch: deep lists in {"memories":[',
  "POST /memories/import: lines: distinct names",
  "POST /memories/import (page): many parts",
  "POST /mcp: meta of names",
  "POST /mcp: unknown arguments",
  "header: distinct parameters",
] as const;
/** The limit as a multiple of the time to parse the longest JSON text of a memory: 100 ms on a quiet machine. */
const RATIO = 8;

const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
let server: ProbedServer;
beforeAll(async () => {
  server = await startProbedServer(folder, "real");
  // The first request waits for the model and compiles the routes.
  await createClient(server.origin, server.key).save({ content: "first" });
}, 120_000);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test.each(WORST)("no request blocks the main thread: %s", async (wanted) => {
  const found = hostileRequests(server, { batchBytes: MAX_BATCH.bytes }).find(
    ({ name }) => name === wanted,
  );
  if (!found) throw new Error("no such request");
  const request = found.request();
  const send = async () => {
    await server.held();
    const { status } = await sendRaw(server.port, request, 60_000);
    return { status, ...(await server.held()) };
  };
  let { status, cpu } = await send();
  // A client that is refused while it sends may lose the answer (RFC 9112, section 9.6).
  for (let turn = 1; status === 0 && turn < 5; turn++) ({ status, cpu } = await send());
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(500);
  expect(cpu).toBeLessThan(RATIO * measureParsing());
});

test("the server answers other clients during an endless import of empty objects", async () => {
  const found = hostileRequests(server, { batchBytes: 0 }).find(
    ({ name }) => name === "POST /memories/import: empty objects",
  );
  const request = found?.request().subarray(0, 2 << 20) ?? Buffer.alloc(0);
  const { send } = createClient(server.origin, server.key);
  const importing = sendRaw(server.port, request, 3_000);
  let answered = 0;
  const end = performance.now() + 1_500;
  while (performance.now() < end) {
    expect((await send("GET", "/health")).status).toBe(200);
    answered++;
  }
  expect(answered).toBeGreaterThan(10);
  await importing;
});

test("an answer lists at most twenty mistakes", async () => {
  const { send } = createClient(server.origin, server.key);
  const item = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`unknown${n}`, 0]));
  const memories = Array.from({ length: 256 }, () => item);
  const single = await send("POST", "/memories", { json: item });
  expectError(single, { status: 422, code: "validation_failed", path: "" });
  const many = await send("POST", "/memories/batch", { json: { memories } });
  expectError(many, { status: 422, code: "validation_failed", path: "/memories/0" });
  const valid = Array.from({ length: 257 }, () => ({ content: "x" }));
  const tooMany = await send("POST", "/memories/batch", { json: { memories: valid } });
  expect(tooMany.body).toMatchObject({
    error: { details: [{ path: "/memories", message: "must have at most 256 items" }] },
  });
});
