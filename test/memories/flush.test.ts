import { expect, test } from "bun:test";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { idOf, storedMemories, storedMemory } from "../support/bases.ts";
import { firstIds, flushedTable, nothingDue, runDueChores } from "../support/flushed-table.ts";
import {
  AT_ONCE,
  idsIn,
  type OpenKeptTable,
  openKeptTable,
  TABLE,
  tableStorage,
} from "../support/kept-table.ts";
import { outcomeOf } from "../support/outcome.ts";
import { until } from "../support/until.ts";

test("nothing is due in a table without changes", async () => {
  const open = await openKeptTable(await tableStorage());
  expect(open.flush.due(0, false)).toBeNull();
  expect(open.flush.due(0, true)).toBeNull();
  expect(open.flush.isIdle()).toBe(true);
});

test.each([
  ["at rest", { idle: 0 }],
  ["old", { age: 0 }],
  ["many", { changes: 3 }],
  ["large", { bytes: 100 }],
])("changes that are %s are flushed, and others wait", async (_, setting) => {
  const never = { ...UPKEEP_LIMITS, idle: 1e9, age: 1e9, changes: 1e9, bytes: 1e9 };
  const memories = await storedMemories(0, 3);
  const waiting = await openKeptTable(await tableStorage(), { due: never });
  await waiting.put(...memories);
  expect(waiting.flush.due(0, false)).toBeNull();
  expect(waiting.flush.isIdle()).toBe(false);
  // A table that is to be closed is flushed at once.
  expect(waiting.flush.due(0, true)).toBe("flush");

  const ready = await openKeptTable(await tableStorage(), { due: { ...never, ...setting } });
  await ready.put(...memories);
  expect(ready.flush.due(0, false)).toBe("flush");
});

test("deleted data is flushed in time, and earlier when other tables are flushed before", async () => {
  const { put, remove, flush, open } = await flushedTable(2, {
    due: { ...AT_ONCE, idle: 1e9, age: 1e9, forgetAfter: 1_000, forgottenWithin: 4_000 },
  });
  await put(await storedMemory(2));
  expect(flush.remainsSince()).toBeNull();
  await open.flush.run("flush");
  await remove(idOf(1));
  expect(flush.due(0, false)).toBeNull();
  expect(flush.isLate(0)).toBe(false);
  expect(flush.due(4_000, false)).toBe("flush");
  expect(flush.isLate(4_000)).toBe(true);
  const since = flush.remainsSince() ?? Number.NaN;
  await until("a flush is due", () => flush.due(0, false) === "flush");
  expect(performance.now() - since).toBeGreaterThanOrEqual(1_000);
  await flush.run("flush");
  expect(flush.remainsSince()).toBeNull();
  expect(flush.due(4_000, false)).toBeNull();
});

test("deleted data of a base that takes long to rewrite is flushed at once", async () => {
  const { remove, flush, open } = await flushedTable(2, {
    due: { ...AT_ONCE, idle: 1e9, age: 1e9, forgetAfter: 1e6, forgottenWithin: 40_000 },
  });
  await open.flush.run("flush");
  await remove(idOf(1));
  expect(flush.due(0, false)).toBeNull();
  Object.defineProperty(open.table.base.current, "rows", { value: 1_000_000 });
  expect(flush.due(0, false)).toBe("flush");
});

test("a small table is rewritten into a new folder, and the old one is removed", async () => {
  const { put, log, bases, open, steps } = await flushedTable(3);
  const [before] = await bases.vault.bases();
  await put(await storedMemory(3));
  expect(await runDueChores(open)).toEqual(["flush"]);
  expect(steps).toContain("base written");
  expect(steps).not.toContain("rows added");
  const { checkpoint } = (await log.head(TABLE)) ?? {};
  expect(checkpoint?.base).not.toBe(before);
  expect(await bases.vault.bases()).toEqual([checkpoint?.base ?? ""]);
  expect(await log.entries(TABLE)).toEqual([]);
  expect(await idsIn(open)).toEqual(firstIds(4));
});

test("a large table is appended to, and indexed when no writes come", async () => {
  const { put, log, bases, table, open, steps } = await flushedTable(20);
  expect(table.base.current?.isIndexed).toBe(true);
  const before = await bases.vault.bases();
  await put(await storedMemory(20), await storedMemory(21));
  expect(await runDueChores(open)).toEqual(["flush"]);
  expect(steps).toContain("rows added");
  expect(steps).not.toContain("base written");
  expect(await bases.vault.bases()).toEqual(before);
  const head = await log.head(TABLE);
  expect(head?.checkpoint?.upTo).toBe(head?.seq);
  expect(await idsIn(open)).toEqual(firstIds(22));
  await open.close();
  const again = await openKeptTable({ log, bases });
  expect(await idsIn(again)).toEqual(firstIds(22));
});

test("indexing waits until no writes come", async () => {
  const due = { ...AT_ONCE, indexAfter: 1e9 };
  const { flush, table } = await flushedTable(20, { due });
  expect(table.base.current?.isIndexed).toBe(false);
  expect(flush.due(0, false)).toBeNull();
  // The next opening indexes it.
  expect(flush.isIdle()).toBe(true);
});

test.each([
  ["removed", ({ remove }: OpenKeptTable) => remove(idOf(1))],
  [
    "replaced",
    async ({ put }: OpenKeptTable) => put(await storedMemory(1, { content: "another" })),
  ],
])("a large table with a %s memory is rewritten", async (_, change) => {
  const { bases, open, steps } = await flushedTable(20);
  const before = await bases.vault.bases();
  await change(open);
  await runDueChores(open);
  expect(steps).toContain("base written");
  expect(steps).not.toContain("rows added");
  expect(await bases.vault.bases()).not.toEqual(before);
  expect(await bases.vault.bases()).toHaveLength(1);
});

test("a large table is rewritten after many or large appends", async () => {
  const often = await flushedTable(20, { due: { ...AT_ONCE, appends: 2 } });
  for (let number = 20; number < 23; number++) {
    await often.put(await storedMemory(number));
    await often.flush.run("flush");
  }
  expect(often.steps.filter((step) => step === "rows added")).toHaveLength(2);
  expect(often.steps.filter((step) => step === "base written")).toHaveLength(1);

  const much = await flushedTable(20);
  await much.put(...(await storedMemories(20, 35)));
  await much.flush.run("flush");
  expect(much.steps).not.toContain("rows added");
});

test("writes during a flush stay in the log until the next one", async () => {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const storage = await tableStorage(async (step) => {
    if (step !== "base kept") return;
    reached.resolve();
    await gate.promise;
  });
  const open = await openKeptTable(storage);
  const { put, remove, flush, table } = open;
  await put(...(await storedMemories(0, 3)));
  const running = flush.run("flush");
  await reached.promise;
  await put(await storedMemory(1, { content: "changed meanwhile" }), await storedMemory(3));
  await remove(idOf(0));
  const removedAt = performance.now();
  // The time of the deletion must differ from that of the flush's end.
  await Bun.sleep(20);
  gate.resolve();
  await running;
  expect(table.pending.ids().sort()).toEqual([idOf(0), idOf(1), idOf(3)]);
  // The base still has the deleted memory.
  expect(flush.remainsSince()).not.toBeNull();
  expect(flush.remainsSince() ?? 0).toBeLessThanOrEqual(removedAt);
  expect(await idsIn(open)).toEqual([idOf(1), idOf(2), idOf(3)]);
  await flush.run("flush");
  expect(table.pending.size).toBe(0);
  expect(flush.remainsSince()).toBeNull();
  await open.close();
  const again = await openKeptTable(storage);
  expect(await idsIn(again)).toEqual([idOf(1), idOf(2), idOf(3)]);
  expect((await again.table.find([idOf(1)]))[0]?.content).toBe("changed meanwhile");
});

test("deleted data counts as remains until it is removed from the log too", async () => {
  let isReading = false;
  const { remove, flush } = await flushedTable(3, {
    wrapLog: (log) => ({ ...log, expunge: async () => !isReading && (await log.expunge()) }),
  });
  isReading = true;
  await remove(idOf(0));
  const since = flush.remainsSince();
  expect(since).not.toBeNull();
  expect(await outcomeOf(flush.run("flush"))).toThrow("another process");
  expect(flush.remainsSince()).toBe(since);
  expect(flush.isIdle()).toBe(false);
  isReading = false;
  await flush.run("flush");
  expect(flush.remainsSince()).toBeNull();
  expect(flush.isIdle()).toBe(true);
});

test("a base with remains is not indexed", async () => {
  const { remove, flush } = await flushedTable(20, { due: { ...nothingDue(), indexAfter: 0 } });
  await flush.run("flush");
  expect(flush.due(0, false)).toBe("index");
  await remove(idOf(1));
  expect(flush.due(0, false)).toBeNull();
  await flush.run("flush");
  expect(flush.due(0, false)).toBe("index");
});

test("indexing does not delay forgetting", async () => {
  const { remove, flush, table } = await flushedTable(20, { due: nothingDue() });
  await flush.run("flush");
  await remove(idOf(1));
  const [since, dirty] = [flush.remainsSince(), table.pending.dirtySince];
  expect(since).not.toBeNull();
  await flush.run("index");
  expect(table.base.current?.isIndexed).toBe(true);
  expect(flush.remainsSince()).toBe(since);
  expect(table.pending.dirtySince).toBe(dirty);
});

test("memories are not compared before all that the recorded base includes was read", async () => {
  const storage = await tableStorage();
  let ahead = 1;
  const open = await openKeptTable(storage, {
    wrapLog: (log) => ({
      ...log,
      async head(table) {
        const head = await log.head(table);
        const checkpoint = head?.checkpoint;
        return checkpoint
          ? { ...head, checkpoint: { ...checkpoint, upTo: checkpoint.upTo + ahead } }
          : head;
      },
    }),
  });
  await open.put(...(await storedMemories(0, 2)));
  await open.flush.run("flush");
  await open.table.candidates({ vector: null, words: "number", filter: {}, limit: 1, least: 1 });
  await until("the memories are in memory", () => open.table.view.current);
  const comparedTo = async () => (await storage.log.likenesses.state(TABLE)).comparedTo;
  await open.flush.run("compare");
  expect(await comparedTo()).toBeUndefined();
  expect(open.flush.due(0, false)).not.toBe("compare");
  ahead = 0;
  await open.flush.run("compare");
  // All have been compared.
  expect(await comparedTo()).toBeNull();
});
