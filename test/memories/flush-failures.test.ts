import { expect, test } from "bun:test";
import { statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { idOf, storedMemories, storedMemory } from "../support/bases.ts";
import { listFiles } from "../support/files.ts";
import { firstIds, flushedTable, nothingDue, runDueChores } from "../support/flushed-table.ts";
import { AT_ONCE, idsIn, openKeptTable, TABLE, tableStorage } from "../support/kept-table.ts";
import { outcomeOf } from "../support/outcome.ts";

test("a failed flush changes nothing, and is tried again after a rest", async () => {
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
  expect(await outcomeOf(flush.run("flush"))).toThrow("the disk reports an error");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before?.checkpoint);
  expect(await storage.bases.vault.bases()).toEqual([before?.checkpoint?.base ?? ""]);
  expect(await idsIn(open)).toEqual(firstIds(4));
  expect(flush.due(0, false)).toBeNull();
  expect(flush.isIdle()).toBe(false);

  isBroken = false;
  await flush.run("flush");
  expect(table.pending.size).toBe(0);
  expect(flush.isIdle()).toBe(true);
  await open.close();
  expect(await idsIn(await openKeptTable(storage))).toEqual(firstIds(4));
});

test("a truncated file of LanceDB makes the flush fail, and the next one writes a new folder", async () => {
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
  await runDueChores(open);
  const before = (await storage.log.head(TABLE))?.checkpoint;
  tear = true;
  await open.put(await storedMemory(20));
  expect(await outcomeOf(open.flush.run("flush"))).toThrow("was not written to its end");
  // The new folder has the later writes too.
  await open.put(await storedMemory(21));
  await runDueChores(open);
  const after = (await storage.log.head(TABLE))?.checkpoint;
  expect(after?.base).not.toBe(before?.base);
  expect(await storage.bases.vault.bases()).toEqual([after?.base ?? ""]);
  expect(await idsIn(open)).toEqual(firstIds(22));
  await open.close();
  const again = await openKeptTable(storage);
  expect(again.table.pending.size).toBe(0);
  expect(await idsIn(again)).toEqual(firstIds(22));
});

test.each([
  ["a small table", 3],
  ["a large one", 20],
])("%s loses nothing when a checkpoint can't be recorded", async (_, count) => {
  let isBroken = false;
  const { storage, put, flush, open } = await flushedTable(count, {
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
  expect(await outcomeOf(flush.run("flush"))).toThrow("the disk is full");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before);
  // The checkpoint may or may not be recorded: both bases exist.
  expect(await storage.bases.vault.bases()).toContain(before?.base ?? "");
  expect(await idsIn(open)).toEqual(firstIds(count + 1));
  await put(await storedMemory(count + 1));
  await open.close();

  // Opened from the recorded state, as after a crash.
  const crashed = await openKeptTable(storage);
  expect(await idsIn(crashed)).toEqual(firstIds(count + 2));
  await crashed.flush.run("flush");
  await crashed.close();
  const again = await openKeptTable(storage);
  expect(again.table.pending.size).toBe(0);
  expect(await idsIn(again)).toEqual(firstIds(count + 2));
});

test("a base that can't be opened is not recorded, and its files are removed", async () => {
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
  expect(await outcomeOf(open.flush.run("flush"))).toThrow("too many open files");
  expect((await storage.log.head(TABLE))?.checkpoint).toEqual(before);
  expect(await storage.bases.vault.bases()).toEqual([before?.base ?? ""]);
  isBroken = false;
  due.indexAfter = 0;
  const chore = open.flush.due(0, false);
  if (chore) await open.flush.run(chore);
  await open.close();
  expect(await idsIn(await openKeptTable(storage))).toEqual(firstIds(19));
});

test.each([
  ["a small table", 3],
  ["a large one", 20],
])("%s has at most one unrecorded base, however often recording fails", async (_, count) => {
  let isBroken = false;
  const { storage, open } = await flushedTable(count, {
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
    expect(await outcomeOf(open.flush.run("flush"))).toThrow("the disk fails");
    expect((await storage.bases.vault.bases()).length).toBeLessThanOrEqual(2);
    expect(await idsIn(open)).toEqual(firstIds(count + round + 1).slice(round < 2 ? 0 : 1));
  }
  isBroken = false;
  await open.flush.run("flush");
  expect(open.table.pending.size).toBe(0);
  expect(open.flush.isIdle()).toBe(true);
  const recorded = (await storage.log.head(TABLE))?.checkpoint?.base ?? "";
  expect(await storage.bases.vault.bases()).toEqual([recorded]);
  await open.close();
  expect(await idsIn(await openKeptTable(storage))).toEqual(firstIds(count + 4).slice(1));
});

test("the files of a new base that can't be indexed are removed", async () => {
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
    expect(await outcomeOf(open.flush.run("flush"))).toThrow("no index today");
    expect(await storage.bases.vault.bases()).toEqual([]);
  }
  await open.flush.run("flush");
  expect(await idsIn(open)).toEqual(firstIds(20));
  expect(await storage.bases.vault.bases()).toHaveLength(1);
});

test("memories that were appended to an unrecorded base are not appended again", async () => {
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
  expect(await outcomeOf(open.flush.run("flush"))).toThrow("the disk fails");
  isBroken = false;
  due.indexAfter = 0;
  const chore = open.flush.due(0, false);
  if (chore) await open.flush.run(chore);
  await open.put(await storedMemory(21));
  await open.flush.run("flush");
  expect(open.table.base.current?.rows).toBe(22);
  expect(await idsIn(open)).toEqual(firstIds(22));
});
