import { expect, test } from "bun:test";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { DUE } from "../../src/memories/due.ts";
import { idOf, storedMemories, storedMemory } from "../support/bases.ts";
import { listFiles } from "../support/files.ts";
import {
  AT_ONCE,
  idsIn,
  type OpenKeptTable,
  openKeptTable,
  TABLE,
  tableStorage,
} from "../support/kept-table.ts";

/** Does chores for as long as any is due, and tells which. */
async function work({ flush }: OpenKeptTable): Promise<string[]> {
  const done: string[] = [];
  for (let chore = flush.due(0, false); chore; chore = flush.due(0, false)) {
    await flush.run(chore);
    done.push(chore);
    if (done.length > 10) throw new Error(`it never comes to rest: ${done}`);
  }
  return done;
}

/** A table with memories 0 to `count` in its base, and nothing in the log. */
async function flushed(count: number, options: Parameters<typeof openKeptTable>[1] = {}) {
  const steps: string[] = [];
  const storage = await tableStorage((step) => void steps.push(step));
  const due = { ...AT_ONCE, restFactor: 0, retryAfter: 0, ...options.due };
  const open = await openKeptTable(storage, { ...options, due });
  await open.put(...(await storedMemories(0, count)));
  await work(open);
  steps.length = 0;
  return { ...storage, storage, ...open, open, steps };
}

/** When nothing is due by itself, until a test changes it. */
const nothingDue = () => ({
  ...{ ...AT_ONCE, restFactor: 0, retryAfter: 0 },
  ...{ idle: 1e9, forgetAfter: 1e9, forgottenWithin: 1e9, indexAfter: 1e9 },
});

const first = (count: number) => Array.from({ length: count }, (_, number) => idOf(number));

test("nothing is due in a table without changes, whatever it was opened for", async () => {
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
  const never = { ...DUE, idle: 1e9, age: 1e9, changes: 1e9, bytes: 1e9 };
  const memories = await storedMemories(0, 3);
  const waiting = await openKeptTable(await tableStorage(), { due: never });
  await waiting.put(...memories);
  expect(waiting.flush.due(0, false)).toBeNull();
  expect(waiting.flush.isIdle()).toBe(false);
  // A table that is to be closed is not waited for.
  expect(waiting.flush.due(0, true)).toBe("flush");

  const ready = await openKeptTable(await tableStorage(), { due: { ...never, ...setting } });
  await ready.put(...memories);
  expect(ready.flush.due(0, false)).toBe("flush");
});

test("what was deleted is flushed in its time, and sooner when other tables take theirs", async () => {
  const { put, remove, flush, open } = await flushed(2, {
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
  const since = flush.remainsSince() ?? 0;
  while (performance.now() - since < 1_000) await Bun.sleep(20);
  expect(flush.due(0, false)).toBe("flush");
  await flush.run("flush");
  expect(flush.remainsSince()).toBeNull();
  expect(flush.due(4_000, false)).toBeNull();
});

test("a small table is written as a whole, into a folder of its own, and the former one goes", async () => {
  const { put, log, bases, open, steps } = await flushed(3);
  const [before] = await bases.vault.bases();
  await put(await storedMemory(3));
  expect(await work(open)).toEqual(["flush"]);
  expect(steps).toContain("base written");
  expect(steps).not.toContain("rows added");
  const { checkpoint } = (await log.head(TABLE)) ?? {};
  expect(checkpoint?.base).not.toBe(before);
  expect(await bases.vault.bases()).toEqual([checkpoint?.base ?? ""]);
  expect(await log.entries(TABLE)).toEqual([]);
  expect(await idsIn(open)).toEqual(first(4));
});

test("a large one is added to, where it is, and has its indexes at rest", async () => {
  const { put, log, bases, table, open, steps } = await flushed(20);
  expect(table.base.current?.isIndexed).toBe(true);
  const before = await bases.vault.bases();
  await put(await storedMemory(20), await storedMemory(21));
  expect(await work(open)).toEqual(["flush"]);
  expect(steps).toContain("rows added");
  expect(steps).not.toContain("base written");
  expect(await bases.vault.bases()).toEqual(before);
  const head = await log.head(TABLE);
  expect(head?.checkpoint?.upTo).toBe(head?.seq);
  expect(await idsIn(open)).toEqual(first(22));
  await open.close();
  const again = await openKeptTable({ log, bases });
  expect(await idsIn(again)).toEqual(first(22));
});

test("an index waits until the table is at rest", async () => {
  const due = { ...AT_ONCE, indexAfter: 1e9 };
  const { flush, table } = await flushed(20, { due });
  expect(table.base.current?.isIndexed).toBe(false);
  expect(flush.due(0, false)).toBeNull();
  // The next opening sees to it.
  expect(flush.isIdle()).toBe(true);
});

test.each([
  ["removed", ({ remove }: OpenKeptTable) => remove(idOf(1))],
  [
    "replaced",
    async ({ put }: OpenKeptTable) => put(await storedMemory(1, { content: "another" })),
  ],
])("a large table in which something was %s is written as a whole", async (_, change) => {
  const { bases, open, steps } = await flushed(20);
  const before = await bases.vault.bases();
  await change(open);
  await work(open);
  expect(steps).toContain("base written");
  expect(steps).not.toContain("rows added");
  expect(await bases.vault.bases()).not.toEqual(before);
  expect(await bases.vault.bases()).toHaveLength(1);
});

test("a large table that was added to often, or much, is written as one again", async () => {
  const often = await flushed(20, { due: { ...AT_ONCE, appends: 2 } });
  for (let number = 20; number < 23; number++) {
    await often.put(await storedMemory(number));
    await often.flush.run("flush");
  }
  expect(often.steps.filter((step) => step === "rows added")).toHaveLength(2);
  expect(often.steps.filter((step) => step === "base written")).toHaveLength(1);

  const much = await flushed(20);
  await much.put(...(await storedMemories(20, 35)));
  await much.flush.run("flush");
  expect(much.steps).not.toContain("rows added");
});

test("a flush that fails leaves all as it was, rests, and is done again", async () => {
  let isBroken = false;
  const storage = await tableStorage((step) => {
    if (isBroken && step === "base kept") throw new Error("the disk reports an error");
  });
  const due = { ...AT_ONCE, retryAfter: 1e9 };
  const open = await openKeptTable(storage, { due });
  const { put, flush, table } = open;
  await put(...(await storedMemories(0, 3)));
  await flush.run("flush");
  const before = await storage.log.head(TABLE);
  isBroken = true;
  await put(await storedMemory(3));
  await expect(flush.run("flush")).rejects.toThrow("the disk reports an error");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before?.checkpoint);
  expect(await storage.bases.vault.bases()).toEqual([before?.checkpoint?.base ?? ""]);
  expect(await idsIn(open)).toEqual(first(4));
  expect(flush.due(0, false)).toBeNull();
  expect(flush.isIdle()).toBe(false);

  isBroken = false;
  await flush.run("flush");
  expect(table.pending.size).toBe(0);
  expect(flush.isIdle()).toBe(true);
  await open.close();
  expect(await idsIn(await openKeptTable(storage))).toEqual(first(4));
});

test("a file of which LanceDB lost the end makes a flush fail, which writes the base into a new folder", async () => {
  let tear = false;
  const storage = await tableStorage(async (step) => {
    if (!tear || step !== "rows added") return;
    tear = false;
    const folder = join(storage.bases.folder, `${open.table.base.current?.checkpoint.base}.lance`);
    const known = new Set(open.table.base.current?.checkpoint.files);
    const added = (await listFiles(folder)).filter((file) => !known.has(file));
    const data = added.filter((file) => file.startsWith("data/"));
    expect(data).not.toEqual([]);
    for (const file of data) {
      truncateSync(join(folder, file), statSync(join(folder, file)).size - 100);
    }
  });
  const open = await openKeptTable(storage, { due: { ...AT_ONCE, restFactor: 0, retryAfter: 0 } });
  await open.put(...(await storedMemories(0, 20)));
  await work(open);
  const before = (await storage.log.head(TABLE))?.checkpoint;
  tear = true;
  await open.put(await storedMemory(20));
  await expect(open.flush.run("flush")).rejects.toThrow("was not written to its end");
  // What came meanwhile goes with it.
  await open.put(await storedMemory(21));
  await work(open);
  const after = (await storage.log.head(TABLE))?.checkpoint;
  expect(after?.base).not.toBe(before?.base);
  expect(await storage.bases.vault.bases()).toEqual([after?.base ?? ""]);
  expect(await idsIn(open)).toEqual(first(22));
  await open.close();
  const again = await openKeptTable(storage);
  expect(again.table.pending.size).toBe(0);
  expect(await idsIn(again)).toEqual(first(22));
});

test.each([
  ["a small table", 3],
  ["a large one", 20],
])("nothing of %s is lost when a checkpoint can't be recorded", async (_, count) => {
  let isBroken = false;
  const { storage, put, flush, open } = await flushed(count, {
    wrapLog: (log) => ({
      ...log,
      async checkpoint(...args) {
        if (isBroken) throw new Error("the disk is full");
        await log.checkpoint(...args);
      },
    }),
  });
  const before = (await storage.log.head(TABLE))?.checkpoint;
  isBroken = true;
  await put(await storedMemory(count));
  await expect(flush.run("flush")).rejects.toThrow("the disk is full");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before);
  // It may be recorded or not: both bases are there.
  expect(await storage.bases.vault.bases()).toContain(before?.base ?? "");
  expect(await idsIn(open)).toEqual(first(count + 1));
  await put(await storedMemory(count + 1));
  await open.close();

  // As after a crash, from what is recorded.
  const crashed = await openKeptTable(storage);
  expect(await idsIn(crashed)).toEqual(first(count + 2));
  await crashed.flush.run("flush");
  await crashed.close();
  const again = await openKeptTable(storage);
  expect(again.table.pending.size).toBe(0);
  expect(await idsIn(again)).toEqual(first(count + 2));
});

test("writes that come while a flush runs are in the log until the next one", async () => {
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
  while (performance.now() < removedAt + 20) await Bun.sleep(1);
  gate.resolve();
  await running;
  expect(table.pending.ids().sort()).toEqual([idOf(0), idOf(1), idOf(3)]);
  // What the base has of them is to leave it.
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

test("something deleted counts as in the files until the log has no trace of it either", async () => {
  let isReading = false;
  const { remove, flush } = await flushed(3, {
    wrapLog: (log) => ({ ...log, expunge: async () => !isReading && (await log.expunge()) }),
  });
  isReading = true;
  await remove(idOf(0));
  const since = flush.remainsSince();
  expect(since).not.toBeNull();
  await expect(flush.run("flush")).rejects.toThrow("another process");
  expect(flush.remainsSince()).toBe(since);
  expect(flush.isIdle()).toBe(false);
  isReading = false;
  await flush.run("flush");
  expect(flush.remainsSince()).toBeNull();
  expect(flush.isIdle()).toBe(true);
});

test("no index is made of a base that has to be written again without something", async () => {
  const { remove, flush } = await flushed(20, { due: { ...nothingDue(), indexAfter: 0 } });
  await flush.run("flush");
  expect(flush.due(0, false)).toBe("index");
  await remove(idOf(1));
  expect(flush.due(0, false)).toBeNull();
  await flush.run("flush");
  expect(flush.due(0, false)).toBe("index");
});

test("an index that is made meanwhile does not put off what was deleted", async () => {
  const { remove, flush, table } = await flushed(20, { due: nothingDue() });
  await flush.run("flush");
  await remove(idOf(1));
  const [since, dirty] = [flush.remainsSince(), table.pending.dirtySince];
  expect(since).not.toBeNull();
  await flush.run("index");
  expect(table.base.current?.isIndexed).toBe(true);
  expect(flush.remainsSince()).toBe(since);
  expect(table.pending.dirtySince).toBe(dirty);
});

test("a base that can't be opened is not recorded, and leaves no files", async () => {
  const storage = await tableStorage();
  const due = nothingDue();
  let isBroken = false;
  const open = await openKeptTable(storage, {
    due,
    wrapBases: (bases) => ({
      ...bases,
      async open(checkpoint) {
        if (isBroken) throw new Error("too many open files");
        return await bases.open(checkpoint);
      },
    }),
  });
  await open.put(...(await storedMemories(0, 20)));
  await open.flush.run("flush");
  await open.remove(idOf(19));
  isBroken = true;
  const before = (await storage.log.head(TABLE))?.checkpoint;
  await expect(open.flush.run("flush")).rejects.toThrow("too many open files");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before);
  expect(await storage.bases.vault.bases()).toEqual([before?.base ?? ""]);
  isBroken = false;
  due.indexAfter = 0;
  const chore = open.flush.due(0, false);
  if (chore) await open.flush.run(chore);
  await open.close();
  expect(await idsIn(await openKeptTable(storage))).toEqual(first(19));
});

test.each([
  ["a small table", 3],
  ["a large one", 20],
])(
  "however often a checkpoint of %s can't be recorded, no more than one base waits for it",
  async (_, count) => {
    let isBroken = false;
    const { storage, open } = await flushed(count, {
      wrapLog: (log) => ({
        ...log,
        async checkpoint(...args) {
          if (isBroken) throw new Error("the disk fails");
          await log.checkpoint(...args);
        },
      }),
    });
    isBroken = true;
    for (let round = 0; round < 4; round++) {
      await open.put(await storedMemory(count + round));
      if (round === 2) await open.remove(idOf(0));
      await expect(open.flush.run("flush")).rejects.toThrow("the disk fails");
      expect((await storage.bases.vault.bases()).length).toBeLessThanOrEqual(2);
      expect(await idsIn(open)).toEqual(first(count + round + 1).slice(round < 2 ? 0 : 1));
    }
    isBroken = false;
    await open.flush.run("flush");
    expect(open.table.pending.size).toBe(0);
    expect(open.flush.isIdle()).toBe(true);
    const recorded = (await storage.log.head(TABLE))?.checkpoint?.base ?? "";
    expect(await storage.bases.vault.bases()).toEqual([recorded]);
    await open.close();
    expect(await idsIn(await openKeptTable(storage))).toEqual(first(count + 4).slice(1));
  },
);

test("a new base that can't be indexed leaves no files, however often it is tried", async () => {
  const storage = await tableStorage();
  let failures = 0;
  const open = await openKeptTable(storage, {
    due: { ...AT_ONCE, restFactor: 0, retryAfter: 0 },
    hasRoom: false,
    wrapBases: (bases) => ({
      ...bases,
      async index(base, withVectors) {
        if (failures++ < 3) throw new Error("no index today");
        return await bases.index(base, withVectors);
      },
    }),
  });
  await open.put(...(await storedMemories(0, 20)));
  for (let turn = 0; turn < 3; turn++) {
    await expect(open.flush.run("flush")).rejects.toThrow("no index today");
    expect(await storage.bases.vault.bases()).toEqual([]);
  }
  await open.flush.run("flush");
  expect(await idsIn(open)).toEqual(first(20));
  expect(await storage.bases.vault.bases()).toHaveLength(1);
});

test("what was added to a base that could not be recorded is not added a second time", async () => {
  const storage = await tableStorage();
  const due = nothingDue();
  let isBroken = false;
  const open = await openKeptTable(storage, {
    due,
    wrapLog: (log) => ({
      ...log,
      async checkpoint(...args) {
        if (isBroken) throw new Error("the disk fails");
        await log.checkpoint(...args);
      },
    }),
  });
  await open.put(...(await storedMemories(0, 20)));
  await open.flush.run("flush");
  await open.put(await storedMemory(20));
  isBroken = true;
  await expect(open.flush.run("flush")).rejects.toThrow("the disk fails");
  isBroken = false;
  due.indexAfter = 0;
  const chore = open.flush.due(0, false);
  if (chore) await open.flush.run(chore);
  await open.put(await storedMemory(21));
  await open.flush.run("flush");
  expect(open.table.base.current?.rows).toBe(22);
  expect(await idsIn(open)).toEqual(first(22));
});
