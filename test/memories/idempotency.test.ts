import { afterAll, expect, test } from "bun:test";
import type { IdempotencyRecord } from "../../src/memories/log/records.ts";
import { createIdempotency } from "../../src/memories/rules/idempotency.ts";
import { testClock } from "../support/database.ts";
import { expectError, expectInvalid } from "../support/errors.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { outcomeOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";

const embedder = fakeEmbedder();
const server = await startServer({ embedder });
afterAll(server.close);

const DAY = 86_400_000;
const KEY = { "idempotency-key": "3f1c" };

test("a repeated key returns the first answer and saves nothing", async () => {
  const ada = await server.account();
  const sending = { json: { content: "x", tags: ["a"] }, headers: KEY };
  const first = await ada.send("POST", "/memories", sending);
  server.clock.advance(1_000);
  embedder.contents.length = 0;
  const again = await ada.send("POST", "/memories", sending);
  expect(again.status).toBe(201);
  expect(again.body).toEqual(first.body);
  for (const name of ["location", "etag"]) {
    expect(again.headers.get(name)).toBe(first.headers.get(name) ?? "missing");
  }
  expect(embedder.contents).toEqual([]);
  expect((await ada.list()).memories).toHaveLength(1);
});

test("simultaneous requests with one key save one memory", async () => {
  const ada = await server.account();
  const saved = await Promise.all(
    Array.from({ length: 10 }, () => ada.save({ content: "x" }, KEY)),
  );
  expect(new Set(saved.map(({ id }) => id)).size).toBe(1);
  expect((await ada.list()).memories).toHaveLength(1);
});

test("a batch is saved once, in its order", async () => {
  const ada = await server.account();
  const json = { memories: [{ content: "a" }, { content: "b" }, { content: "c" }] };
  const send = () => ada.send("POST", "/memories/batch", { json, headers: KEY });
  const [first, second] = await Promise.all([send(), send()]);
  const third = await send();
  expect(first.status).toBe(201);
  expect([second.body, third.body]).toEqual([first.body, first.body]);
  expect((await ada.list()).memories).toHaveLength(3);
});

test("the same key with another body is refused, also while the first request runs", async () => {
  const ada = await server.account();
  const [one, other] = await Promise.all([
    ada.send("POST", "/memories", { json: { content: "x" }, headers: KEY }),
    ada.send("POST", "/memories", { json: { content: "y" }, headers: KEY }),
  ]);
  expect([one.status, other.status].toSorted()).toEqual([201, 422]);
  const late = { json: { content: "z" }, headers: KEY };
  expectInvalid(await ada.send("POST", "/memories", late), "/Idempotency-Key");
  expect((await ada.list()).memories).toHaveLength(1);
});

test("a key expires after 24 hours", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "x" }, KEY);
  server.clock.advance(DAY - 1);
  expect((await ada.save({ content: "x" }, KEY)).id).toBe(id);
  server.clock.advance(1);
  const second = await ada.save({ content: "y" }, KEY);
  expect(second.id).not.toBe(id);
  expect((await ada.save({ content: "y" }, KEY)).id).toBe(second.id);
});

test("accounts have separate keys", async () => {
  const [ada, bob] = [await server.account(), await server.account()];
  const first = await ada.save({ content: "x" }, KEY);
  const second = await bob.save({ content: "x" }, KEY);
  expect(second.id).not.toBe(first.id);
  expect((await bob.list()).memories).toEqual([second]);
});

test("the API keys of an account share idempotency keys", async () => {
  const ada = await server.account();
  const first = await ada.save({ content: "x" }, KEY);
  const other = await server.client(ada.accountId);
  expect((await other.save({ content: "x" }, KEY)).id).toBe(first.id);
});

test("a repeated request whose memory was deleted is a conflict", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "x" }, KEY);
  await ada.remove(id);
  const again = await ada.send("POST", "/memories", { json: { content: "x" }, headers: KEY });
  expectError(again, { status: 409, code: "conflict" });
  expect((await ada.list()).memories).toEqual([]);
});

test("a refused request does not use its key", async () => {
  const ada = await server.account();
  const refused = await ada.send("POST", "/memories", { json: { content: "" }, headers: KEY });
  expectInvalid(refused, "/content");
  await ada.save({ content: "x" }, KEY);
});

test("requests that run while an answer is looked up are still one", async () => {
  const { once, appended } = idempotency();
  const make = async (id: string) => {
    await Bun.sleep(1);
    return [id];
  };
  const [first, same] = await Promise.all([
    once("acc_1", "k", { content: "x" }, (answer) => appended(answer, make("mem_1"))),
    once("acc_1", "k", { content: "x" }, (answer) => appended(answer, make("mem_2"))),
  ]);
  expect([first, same]).toEqual([["mem_1"], ["mem_1"]]);
});

test("a failed request frees its key, also for a waiting request", async () => {
  const { once, appended } = idempotency();
  const failing = once("acc_1", "k", 1, async () => {
    throw new Error("the disk is full");
  });
  const other = once("acc_1", "k", 2, (answer) => appended(answer, Promise.resolve(["mem_2"])));
  expect(await outcomeOf(failing)).toThrow("the disk is full");
  expect(await other).toEqual(["mem_2"]);
  const neverCalled = async () => [];
  expect(await once("acc_1", "k", 2, neverCalled)).toEqual(["mem_2"]);
  expect(await outcomeOf(once("acc_1", "k", 1, neverCalled))).toThrow("another request");
});

/** Idempotency with a log that only has answers, and a function that records one. */
function idempotency() {
  let recorded: IdempotencyRecord | null = null;
  const { once } = createIdempotency({ log: { answer: async () => recorded }, clock: testClock() });
  const appended = async (
    answer: (memoryIds: string[]) => IdempotencyRecord,
    making: Promise<string[]>,
  ): Promise<string[]> => {
    const made = await making;
    recorded = answer(made);
    return made;
  };
  return { once, appended };
}

test("a key has 1 to 255 characters", async () => {
  const ada = await server.account();
  await ada.save({ content: "x" }, { "idempotency-key": "k".repeat(255) });
  for (const key of ["", "k".repeat(256)]) {
    const headers = { "idempotency-key": key };
    const answer = await ada.send("POST", "/memories", { json: { content: "x" }, headers });
    expectInvalid(answer, "/idempotency-key");
  }
});

test("each text is a separate key", async () => {
  const ada = await server.account();
  const keys = ["' OR 1=1 --", '"', "\\", "%", "_", "a", "A", "x".repeat(200), "é"];
  const ids = [];
  for (const key of keys)
    ids.push((await ada.save({ content: key }, { "idempotency-key": key })).id);
  expect(new Set(ids).size).toBe(keys.length);
});
