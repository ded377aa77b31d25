import { afterAll, beforeAll, expect, test } from "bun:test";
import { createQuotas } from "../../src/accounts/quotas.ts";
import { startServer, type TestServer } from "../support/server.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** An account with this quota. */
async function limited(memories: number | null, bytes: number | null = null) {
  const account = await server.account();
  const set = (quota: { memories: number | null; bytes: number | null }) =>
    createQuotas({ db: server.db }).set(account.accountId, quota);
  await set({ memories, bytes });
  return { ...account, set };
}

const note = (content: string) => ({ json: { content } });
const REFUSED = { status: 409, body: { error: { code: "conflict" } } };
const refusedFor = (what: string) => ({
  status: 409,
  body: { error: { code: "conflict", message: expect.stringContaining(what) } },
});

test("saving beyond the number of memories is refused, and deleting makes room", async () => {
  const { send, save, remove, removeMatching, list, set } = await limited(2);
  const { id } = await save({ content: "one", tags: ["a"] });
  await save({ content: "two" });
  expect(await send("POST", "/memories", note("three"))).toMatchObject(
    refusedFor("The quota is 2 memories; this would exceed it"),
  );
  await remove(id);
  await save({ content: "three", tags: ["a"] });
  expect(await send("POST", "/memories", note("four"))).toMatchObject(REFUSED);
  expect(await removeMatching({ tags: "a" })).toBe(1);
  await save({ content: "four" });
  expect((await list()).memories).toHaveLength(2);
  await set({ memories: null, bytes: null });
  await save({ content: "five" });
});

test("a batch is saved as a whole or not at all", async () => {
  const { send, saveAll, list } = await limited(3);
  const memories = ["one", "two", "three", "four"].map((content) => ({ content }));
  expect(await send("POST", "/memories/batch", { json: { memories } })).toMatchObject(REFUSED);
  expect((await list()).memories).toEqual([]);
  expect(await saveAll(memories.slice(0, 3))).toHaveLength(3);
});

test("tags and names count as bytes, also when the table is recounted", async () => {
  const { send, save, removeMatching } = await limited(null, 30);
  // 1 + 2 + 8 + 4 + 5 bytes.
  await save({ content: "1", tags: ["ä".repeat(3), "bc"], agent_id: "four", session_id: "five5" });
  await save({ content: "gone", tags: ["x"] });
  expect(await removeMatching({ tags: "x" })).toBe(1);
  expect(await send("POST", "/memories", note("123456789"))).toMatchObject(REFUSED);
  await save({ content: "12345678" });
});

test("bytes of contents and metadata count, whoever changes them", async () => {
  const { send, save, update } = await limited(null, 20);
  // "ä" has two bytes. `{}` counts too.
  const { id } = await save({ content: "ä".repeat(5) });
  expect(await send("POST", "/memories", note("1234567"))).toMatchObject(
    refusedFor("The quota is 20 bytes of text; this would exceed it"),
  );
  await save({ content: "123456" });
  expect(await send("PUT", `/memories/${id}`, note("12345678901"))).toMatchObject(REFUSED);
  await update(id, { content: "1234567890" });
  expect(await send("PUT", `/memories/${id}`, { json: { metadata: { a: 1 } } })).toMatchObject(
    REFUSED,
  );
  await update(id, { content: "1" });
  await save({ content: "1234567" });
});

test("an account above a new quota keeps its memories, and may shrink", async () => {
  const { send, save, update, remove, set } = await limited(null);
  const first = await save({ content: "the first of two" });
  const second = await save({ content: "the second of two" });
  await set({ memories: 1, bytes: 10 });
  expect(await send("POST", "/memories", note("x"))).toMatchObject(REFUSED);
  expect(await send("PUT", `/memories/${first.id}`, { json: { tags: ["more"] } })).toMatchObject(
    REFUSED,
  );
  await update(first.id, { importance: 1 });
  await update(first.id, { content: "shorter" });
  expect(await send("PUT", `/memories/${first.id}`, note("longer again"))).toMatchObject(REFUSED);
  await remove(second.id);
  await update(first.id, { content: "longer" });
});

test("simultaneous writes do not exceed the quota", async () => {
  const { send, list } = await limited(10);
  const answers = await Promise.all(
    Array.from({ length: 64 }, (_, n) => send("POST", "/memories", note(`memory ${n}`))),
  );
  const statuses = answers.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength(10);
  expect(statuses.filter((status) => status === 409)).toHaveLength(54);
  expect((await list({ limit: 100 })).memories).toHaveLength(10);
});

test("simultaneous deletions and saves stay within the quota", async () => {
  const { send, saveAll, list } = await limited(20);
  const known = await saveAll(Array.from({ length: 20 }, (_, n) => ({ content: `old ${n}` })));
  await Promise.all(
    known.flatMap(({ id }, n) => [
      send("DELETE", `/memories/${id}`),
      send("POST", "/memories", note(`new ${n}`)),
      send("POST", "/memories", note(`newer ${n}`)),
    ]),
  );
  const before = (await list({ limit: 100 })).memories.length;
  expect(before).toBeLessThanOrEqual(20);
  let saved = 0;
  for (let n = 0; n < 21; n++) {
    if ((await send("POST", "/memories", note(`last ${n}`))).status === 201) saved++;
  }
  expect(before + saved).toBe(20);
});

test("an import stops at the quota, and reports how far it came", async () => {
  const { send, list } = await limited(300);
  const body = Array.from({ length: 600 }, (_, n) => JSON.stringify({ content: `line ${n}` }));
  const headers = { "content-type": "application/x-ndjson" };
  const answer = await send("POST", "/memories/import", { body: body.join("\n"), headers });
  expect(answer).toMatchObject(refusedFor("The lines up to 256 have been imported"));
  expect((await list({ limit: 1 })).memories).toHaveLength(1);
});

test("accounts have separate quotas", async () => {
  await limited(0);
  const free = await server.account();
  await free.save({ content: "as many as I like" });
  expect((await free.list()).memories).toHaveLength(1);
});

test("a member has the default quota until the owner sets another one", async () => {
  await using open = await startServer({ memberQuota: { memories: 1, bytes: null } });
  const owner = await open.account();
  const member = await open.account();
  const quotas = createQuotas({ db: open.db });
  await owner.save({ content: "one" });
  await owner.save({ content: "two" });
  await member.save({ content: "one" });
  expect(await member.send("POST", "/memories", note("two"))).toMatchObject(
    refusedFor("The quota is 1 memory; this would exceed it"),
  );
  await quotas.set(member.accountId, { memories: 2, bytes: null });
  await member.save({ content: "two" });
  expect(await member.send("POST", "/memories", note("three"))).toMatchObject(REFUSED);
  await quotas.set(member.accountId, { memories: null, bytes: null });
  await member.save({ content: "three" });
});
