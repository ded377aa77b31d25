import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createPendingChanges, UNDO_MS } from "../../src/undo/pending-changes.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);
const { undoable } = server;

/** An account with three memories, the first of which are selected. */
async function withMemories() {
  const client = await server.account();
  const saved = await client.saveAll(["one", "two", "three"].map((content) => ({ content })));
  const ids = saved.slice(0, 2).map(({ id }) => id);
  const contents = async () => (await client.list()).memories.map(({ content }) => content).sort();
  return { client, accountId: client.accountId, ids, contents };
}

/** Lets the time pass that a change waits, and has it carried out. */
async function pass() {
  server.clock.advance(UNDO_MS);
  await undoable.carryOut();
}

test("a change is carried out when it has waited, and then it can't be undone", async () => {
  const { accountId, ids, contents } = await withMemories();
  await undoable.later(accountId, { kind: "delete", ids });
  const [waiting] = await undoable.list(accountId);
  expect(waiting).toMatchObject({ change: { kind: "delete", ids }, left: UNDO_MS });
  await undoable.carryOut();
  expect(await contents()).toEqual(["one", "three", "two"]);
  await pass();
  expect(await contents()).toEqual(["three"]);
  expect(await undoable.list(accountId)).toEqual([]);
  expect(await undoable.undo(accountId, waiting?.id ?? "")).toBe(false);
});

test("what is undone is never carried out, and only its account undoes it", async () => {
  const { accountId, ids, contents } = await withMemories();
  const other = await withMemories();
  await undoable.later(accountId, { kind: "delete", ids });
  const [{ id } = { id: "" }] = await undoable.list(accountId);
  expect(await undoable.undo(other.accountId, id)).toBe(false);
  expect(await undoable.undo(accountId, id)).toBe(true);
  expect(await undoable.undo(accountId, id)).toBe(false);
  await pass();
  expect(await contents()).toHaveLength(3);
});

test("tags and projects change in the order in which that was asked for", async () => {
  const { client, accountId, ids } = await withMemories();
  await undoable.later(accountId, { kind: "tag", ids, tag: "old" });
  await undoable.later(accountId, { kind: "move", ids, project: "atlas" });
  server.clock.advance(1);
  await undoable.later(accountId, { kind: "untag", ids: ids.slice(0, 1), tag: "old" });
  await pass();
  const [first, second] = await Promise.all(ids.map((id) => client.get(id)));
  expect(first).toMatchObject({ tags: [], project: "atlas" });
  expect(second).toMatchObject({ tags: ["old"], project: "atlas" });
});

test("what a killed server had begun is done by the next one that looks, after a while", async () => {
  const { accountId, ids, contents } = await withMemories();
  await undoable.later(accountId, { kind: "delete", ids });
  const [{ id } = { id: "" }] = await undoable.list(accountId);
  server.clock.advance(UNDO_MS);
  const { db, clock } = server;
  expect(await createPendingChanges({ db, clock }).begin()).toHaveLength(1);
  await undoable.carryOut();
  expect(await contents()).toHaveLength(3);
  expect(await undoable.undo(accountId, id)).toBe(false);
  server.clock.advance(60_000);
  await undoable.carryOut();
  expect(await contents()).toEqual(["three"]);
});

test("what can't be done any more is forgotten, and an account has only so much waiting", async () => {
  const { client, accountId, ids } = await withMemories();
  await undoable.later(accountId, { kind: "tag", ids, tag: "one more" });
  const full = Array.from({ length: 32 }, (_, number) => `tag ${number}`);
  await client.update(ids[0] ?? "", { tags: full });
  await pass();
  expect((await client.get(ids[0] ?? "")).tags).toEqual(full);
  expect((await client.get(ids[1] ?? "")).tags).toEqual(["one more"]);
  expect(await undoable.list(accountId)).toEqual([]);

  for (let number = 0; number < 20; number++) {
    await undoable.later(accountId, { kind: "tag", ids, tag: `${number}` });
  }
  const tooMuch = undoable.later(accountId, { kind: "delete", ids });
  await expect(tooMuch).rejects.toMatchObject({ code: "rate_limited" });
  await server.accounts.remove(accountId);
  expect(await undoable.list(accountId)).toEqual([]);
});

test("a list leaves out what it is told to, and counts without it", async () => {
  const { accountId, ids } = await withMemories();
  const filter = { except: ids };
  const reach = wholeAccount(accountId);
  const { memories } = await server.memories.list(reach, { filter, limit: 10 });
  expect(memories.map(({ content }) => content)).toEqual(["three"]);
  expect(await server.memories.count(reach, filter)).toBe(1);
});
