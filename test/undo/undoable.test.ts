import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createPendingChanges, createUndoable, UNDO_MS } from "../../src/undo/undoable.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";
import { addAccount } from "../support/stores.ts";

const server = await startServer();
afterAll(server.close);
const { undoable } = server;

/** An account with three memories, of which the first two are selected. */
async function withMemories() {
  const client = await server.account();
  const saved = await client.saveAll(["one", "two", "three"].map((content) => ({ content })));
  const ids = saved.slice(0, 2).map(({ id }) => id);
  const contents = async () => (await client.list()).memories.map(({ content }) => content).sort();
  return { client, accountId: client.accountId, ids, contents };
}

/** Waits until changes are due and applies them. */
async function applyAllDue() {
  server.clock.advance(UNDO_MS);
  await undoable.applyDue();
}

test("a change is applied after ten seconds and can then no longer be undone", async () => {
  const { accountId, ids, contents } = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), { kind: "delete", ids });
  const [pending] = await undoable.list(accountId);
  expect(pending).toMatchObject({ change: { kind: "delete", ids }, remainingMs: UNDO_MS });
  await undoable.applyDue();
  expect(await contents()).toEqual(["one", "three", "two"]);
  await applyAllDue();
  expect(await contents()).toEqual(["three"]);
  expect(await undoable.list(accountId)).toEqual([]);
  expect(await undoable.undo(wholeAccount(accountId), pending?.id ?? "")).toBe(false);
});

test("an undone change is never applied, and no other account can undo it", async () => {
  const { accountId, ids, contents } = await withMemories();
  const other = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), { kind: "delete", ids });
  const [{ id } = { id: "" }] = await undoable.list(accountId);
  expect(await undoable.undo(wholeAccount(other.accountId), id)).toBe(false);
  expect(await undoable.undo(wholeAccount(accountId), id)).toBe(true);
  expect(await undoable.undo(wholeAccount(accountId), id)).toBe(false);
  await applyAllDue();
  expect(await contents()).toHaveLength(3);
});

test("changes are applied in the order in which they were made", async () => {
  const { client, accountId, ids } = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), { kind: "tag", ids, tag: "old" });
  await undoable.applyLater(wholeAccount(accountId), { kind: "move", ids, project: "atlas" });
  server.clock.advance(1);
  await undoable.applyLater(wholeAccount(accountId), {
    kind: "untag",
    ids: ids.slice(0, 1),
    tag: "old",
  });
  await applyAllDue();
  const [first, second] = await Promise.all(ids.map((id) => client.get(id)));
  expect(first).toMatchObject({ tags: [], project: "atlas" });
  expect(second).toMatchObject({ tags: ["old"], project: "atlas" });
});

test("another server applies a change that a killed server had begun, after a minute", async () => {
  const { accountId, ids, contents } = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), { kind: "delete", ids });
  const [{ id } = { id: "" }] = await undoable.list(accountId);
  server.clock.advance(UNDO_MS);
  const { db, clock } = server;
  expect(await createPendingChanges({ db, clock }).begin()).toHaveLength(1);
  await undoable.applyDue();
  expect(await contents()).toHaveLength(3);
  expect(await undoable.undo(wholeAccount(accountId), id)).toBe(false);
  server.clock.advance(60_000);
  await undoable.applyDue();
  expect(await contents()).toEqual(["three"]);
});

test("a refused change is dropped, and an account has at most 20 pending changes", async () => {
  const { client, accountId, ids } = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), { kind: "tag", ids, tag: "one more" });
  const full = Array.from({ length: 32 }, (_, number) => `tag ${number}`);
  await client.update(ids[0] ?? "", { tags: full });
  await applyAllDue();
  expect((await client.get(ids[0] ?? "")).tags).toEqual(full);
  expect((await client.get(ids[1] ?? "")).tags).toEqual(["one more"]);
  expect(await undoable.list(accountId)).toEqual([]);

  for (let number = 0; number < 20; number++) {
    await undoable.applyLater(wholeAccount(accountId), { kind: "tag", ids, tag: `${number}` });
  }
  const oneMore = undoable.applyLater(wholeAccount(accountId), { kind: "delete", ids });
  expect(await rejectionOf(oneMore)).toMatchObject({ code: "rate_limited" });
  await server.accounts.remove(accountId);
  expect(await undoable.list(accountId)).toEqual([]);
});

test.each(DATABASES)(
  "on %s, requests at the same time can't pass the limit of pending changes",
  async (_, place) => {
    const { db, clock, accounts } = await storesOn(place);
    const { id: accountId } = await addAccount(accounts);
    const pending = createPendingChanges({ db, clock });
    const change = { kind: "delete", ids: ["mem_1"] } as const;
    for (let number = 0; number < 19; number++) await pending.add(wholeAccount(accountId), change);
    const requests = Array.from({ length: 4 }, () => pending.add(wholeAccount(accountId), change));
    const outcomes = await Promise.allSettled(requests);
    const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refusals.map(({ reason }) => reason.code)).toEqual(Array(3).fill("rate_limited"));
    expect(await pending.list(accountId)).toHaveLength(20);
  },
);

test("a change that fails is tried again for a day, and its memories then stay as they are", async () => {
  const { accountId, ids, contents } = await withMemories();
  const { db, clock, memories } = server;
  const logged: string[] = [];
  const write = (event: string) => void logged.push(event);
  const log = { debug: write, info: write, warn: write, error: write };
  const remove = () => Promise.reject(new Error("The disk is broken."));
  const { admit } = server.spaces;
  const broken = createUndoable({ db, clock, log, admit, memories: { ...memories, remove } });

  await undoable.applyLater(wholeAccount(accountId), { kind: "delete", ids });
  clock.advance(UNDO_MS);
  await broken.applyDue();
  clock.advance(24 * 60 * 60 * 1_000 - 1);
  await broken.applyDue();
  expect(await undoable.list(accountId)).toHaveLength(1);
  clock.advance(60_000);
  await broken.applyDue();
  expect(await undoable.list(accountId)).toEqual([]);
  expect(logged).toEqual(["waiting_change_failed", "waiting_change_failed", "waiting_change_lost"]);
  expect(await contents()).toEqual(["one", "three", "two"]);
  await broken.close();
});

test("a change of a kind that only a later version knows waits for a server of that version", async () => {
  const { accountId, ids, contents } = await withMemories();
  await undoable.applyLater(wholeAccount(accountId), Object({ kind: "of tomorrow", ids }));
  await applyAllDue();
  expect(await contents()).toEqual(["one", "three", "two"]);
  const [waiting] = await undoable.list(accountId);
  expect(waiting?.change.ids).toEqual(ids);
});

test("lists and counts leave out the memories of `except`", async () => {
  const { accountId, ids } = await withMemories();
  const filter = { except: ids };
  const reach = wholeAccount(accountId);
  const { memories } = await server.memories.list(reach, { filter, limit: 10 });
  expect(memories.map(({ content }) => content)).toEqual(["three"]);
  expect(await server.memories.count(reach, filter)).toBe(1);
});
