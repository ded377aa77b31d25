import { expect, test } from "bun:test";
import type { Checkpoint } from "../../../src/memories/log/records.ts";
import {
  allOf,
  changesOf,
  idOf,
  listed,
  model,
  storedMemories,
  storedMemory,
  testBases,
} from "../../support/bases.ts";
import { asEarlier, writeEarlierTable } from "../../support/earlier-tables.ts";
import { outcomeOf } from "../../support/outcome.ts";

const LONG = "the first passage\n\nthe second one\n\nand a third";

async function openEarlier(lost?: string) {
  const bases = await testBases();
  const all = [await storedMemory(0, { content: LONG }), ...(await storedMemories(1, 20))];
  const memories = all.map(asEarlier);
  const rows = { moved: `${idOf(0)}#1`, ...(lost && { lost }) };
  const version = await writeEarlierTable(bases.folder, "acc", memories, rows);
  const files = await bases.vault.files("acc");
  const checkpoint: Checkpoint = { base: "acc", version, files, upTo: 3 };
  await bases.vault.restore("acc", files);
  return { bases, memories, base: await bases.open(checkpoint) };
}

test("a table of the earlier version is read, with defaults for what it lacks", async () => {
  const { memories, base } = await openEarlier();
  expect(base).toMatchObject({ isUpToDate: false, rows: 22, model });
  expect(await allOf(base)).toEqual(memories);
  expect(await base.load([idOf(0)])).toEqual(memories.slice(0, 1));
  const { vectors, states, ...row } = asEarlier(await storedMemory(7));
  expect(await base.find([idOf(7)])).toEqual([row]);
  expect(await base.states([idOf(7)])).toEqual(new Map());
  expect((await Array.fromAsync(base.scan())).flat()).toHaveLength(20);
  const newest = await listed(base, { tags: ["tag3"] }, { from: null, except: [] });
  expect(newest).toEqual([idOf(13), idOf(3)]);
});

test("a rewrite gives it all columns, and what it had stays as it was", async () => {
  const { bases, memories, base } = await openEarlier();
  const pinned = await storedMemory(30, { project: "ctxd", pinned: true, expiresAt: 40 });
  const changes = changesOf([pinned], [idOf(5)]);
  const after = await bases.open(await bases.rewrite("acc", base, changes, { upTo: 4, model }));
  expect(after.isUpToDate).toBe(true);
  expect(await allOf(after)).toEqual([...memories.filter(({ id }) => id !== idOf(5)), pinned]);
  await bases.index(after, false);
  expect(await after.countTexts(["third", "30"])).toEqual(
    new Map([
      ["third", 1],
      ["30", 1],
    ]),
  );
});

test("a memory of which a passage is missing is not taken for a whole one", async () => {
  const { base } = await openEarlier(`${idOf(0)}#2`);
  expect(await outcomeOf(base.load([idOf(0)]))).toThrow(
    `rows of the memory ${idOf(0)} are missing`,
  );
  expect(await outcomeOf(allOf(base))).toThrow(`rows of the memory ${idOf(0)} are missing`);
});
