import { expect, test } from "bun:test";
import { readdirSync, readFileSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { TornFile } from "../../../src/memories/base/vault.ts";
import type { StoredMemory } from "../../../src/memories/model/rows.ts";
import { loadLanceDb } from "../../../src/native/lancedb.ts";
import {
  allOf,
  changesOf,
  idOf,
  model,
  storedMemories,
  storedMemory,
  testBases,
} from "../../support/bases.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { FLUSH_STEPS } from "../../support/flush-steps.ts";
import { outcomeOf, rejectionOf } from "../../support/outcome.ts";

const LONG = "the first passage\n\nthe second one\n\nand a third";
const OPTIONS = { upTo: 7, model };

/** A memory with something in every field. */
const full = () =>
  storedMemory(1, {
    content: LONG,
    tags: ["it's", "緑", ""],
    agentId: "O'Hara",
    sessionId: "s-1",
    project: "ctxd",
    importance: 0.75,
    pinned: true,
    supersedes: idOf(0),
    metadata: '{"a":[1,"\\u0000"]}',
    source: { via: "mcp", by: "laptop", id: "key_1" },
    createdAt: 1_800_000_000_123,
    updatedAt: 1_800_000_000_456,
    expiresAt: 1_900_000_000_789,
  });

/** All bytes of a base's files. */
function bytesOf(folder: string, base: string): string {
  const path = join(folder, `${base}.lance`);
  const entries = readdirSync(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), "latin1")).join();
}

test("what is written is what is read, field by field and vector by vector", async () => {
  const bases = await testBases();
  const memories = [await full(), await storedMemory(2, { tags: [] })];
  const checkpoint = await bases.rewrite("acc", null, changesOf(memories), OPTIONS);
  expect(checkpoint.base).toMatch(/^acc\.[0-9a-f]{8}$/);
  expect(checkpoint.upTo).toBe(7);
  const base = await bases.open(checkpoint);
  expect(base).toMatchObject({ model, rows: 4, isUpToDate: true, isIndexed: false, checkpoint });
  expect(await allOf(base)).toEqual(memories);
  expect(await base.load([idOf(1), idOf(9)])).toEqual([memories[0]] as StoredMemory[]);
  const { vectors, states, ...row } = await full();
  expect(await base.find([idOf(9), idOf(1)])).toEqual([row]);
  expect(await base.states([idOf(1), idOf(9)])).toEqual(new Map([[idOf(1), states]]));
  expect(await base.find([])).toEqual([]);
  expect(await base.load([])).toEqual([]);
  const scanned = (await Array.fromAsync(base.scan())).flat();
  expect(scanned.map(({ id }) => id).sort()).toEqual([idOf(1), idOf(2)]);
});

test("a vector of another length is refused, where the library would fill it up", async () => {
  const bases = await testBases();
  const short = await storedMemory(1, { vectors: [new Float32Array(3)] });
  expect(await outcomeOf(bases.rewrite("acc", null, changesOf([short]), OPTIONS))).toThrow(
    RangeError,
  );
});

test("a table may come to nothing, and grow again", async () => {
  const bases = await testBases();
  const first = await bases.rewrite("acc", null, changesOf(await storedMemories(0, 3)), OPTIONS);
  const gone = changesOf([], [0, 1, 2].map(idOf));
  const empty = await bases.open(
    await bases.rewrite("acc", await bases.open(first), gone, OPTIONS),
  );
  expect(empty.rows).toBe(0);
  expect(await allOf(empty)).toEqual([]);
  expect(await empty.list({}, { from: null, except: [] })).toEqual([]);
  const added = await storedMemories(5, 6);
  await bases.append(empty, added, 8);
  expect(await allOf(empty)).toEqual(added);
});

// Up to 2,000 changes the library leaves rows out, above that they are read by their addresses.
test.each([[1], [2_500]])(
  "%d changes are made, and the other rows stay as they are",
  async (count) => {
    const bases = await testBases();
    const memories = await storedMemories(0, 4_000);
    memories[3_999] = await storedMemory(3_999, { content: LONG });
    memories[0] = await storedMemory(0, { content: LONG });
    const before = await bases.rewrite("acc", null, changesOf(memories), OPTIONS);
    const former = await bases.open(before);
    const removed = Array.from({ length: count }, (_, number) => idOf(number));
    const changed = await storedMemory(3_000, { content: "changed\n\ntwice" });
    const added = await storedMemory(5_000);
    const changes = changesOf([changed, added], removed);
    const after = await bases.rewrite("acc", former, changes, { ...OPTIONS, upTo: 9 });
    const left = memories
      .slice(count)
      .map((memory) => (memory.id === changed.id ? changed : memory));
    const rewritten = await bases.open(after);
    expect(await allOf(rewritten)).toEqual([...left, added]);
    // No passage of a removed memory is left, of which nothing would be read.
    const passages = [...left, added].map(({ vectors }) => vectors.length);
    expect(rewritten.rows).toBe(passages.reduce((sum, each) => sum + each));
    expect(await allOf(former)).toHaveLength(4_000);
    expect((await bases.vault.bases()).sort()).toEqual([before.base, after.base].sort());
  },
);

test("a rewrite leaves no byte of what was removed or replaced", async () => {
  const bases = await testBases();
  const secret = await storedMemory(1, {
    content: "zqsecret one",
    tags: ["zqtag"],
    vectors: [new Float32Array(16).fill(0.123)],
  });
  const old = await storedMemory(2, { content: "zqold two" });
  const rest = await storedMemories(3, 40);
  const before = await bases.open(
    await bases.rewrite("acc", null, changesOf([secret, old, ...rest]), OPTIONS),
  );
  await bases.index(before, false);
  const vector = Buffer.from(new Float32Array(16).fill(0.123).buffer).toString("latin1");
  const found = (name: string) => {
    const bytes = bytesOf(bases.folder, name);
    return ["zqsecret", "zqtag", "zqold", vector].map((text) => bytes.includes(text));
  };
  expect(found(before.checkpoint.base)).toEqual([true, true, true, true]);
  const changes = changesOf([await storedMemory(2, { content: "new two" })], [secret.id]);
  const { base } = await bases.rewrite("acc", before, changes, OPTIONS);
  expect(found(base)).toEqual([false, false, false, false]);
  expect(bytesOf(bases.folder, base)).toContain("new two");
});

test("an append is read by its base, whose files are all in the checkpoint", async () => {
  const bases = await testBases();
  const first = await storedMemories(0, 10);
  const base = await bases.open(await bases.rewrite("acc", null, changesOf(first), OPTIONS));
  const { files } = base.checkpoint;
  const added = [await storedMemory(10, { content: LONG }), await storedMemory(11)];
  const checkpoint = await bases.append(base, added, 12);
  expect(checkpoint).toMatchObject({ base: base.checkpoint.base, upTo: 12 });
  expect(base.checkpoint).toEqual(checkpoint);
  expect(checkpoint.files).toEqual(expect.arrayContaining(files));
  expect([...checkpoint.files].sort()).toEqual((await bases.vault.files(checkpoint.base)).sort());
  expect(base.rows).toBe(14);
  expect(await allOf(base)).toEqual([...first, ...added]);
  expect(await allOf(await bases.open(checkpoint))).toEqual([...first, ...added]);
});

test("reading goes on with what it began with while rows are added", async () => {
  const bases = await testBases();
  const first = await storedMemories(0, 3_000);
  const base = await bases.open(await bases.rewrite("acc", null, changesOf(first), OPTIONS));
  const reading = base.read();
  const begin = await reading.next();
  await bases.append(base, await storedMemories(3_000, 3_100), 8);
  const rest = (await Array.fromAsync(reading)).flat();
  expect((begin.value?.length ?? 0) + rest.length).toBe(3_000);
  expect(await allOf(base)).toHaveLength(3_100);
});

/** Fails once at a step, or damages a file of the base there. */
function failAt(wanted: string, fail: () => void) {
  let isArmed = false;
  return {
    arm() {
      isArmed = true;
    },
    step(step: string) {
      if (step !== wanted || !isArmed) return;
      isArmed = false;
      fail();
    },
  };
}

test("a large base has an index of ids as soon as it is written", async () => {
  const bases = await testBases();
  const lancedb = await loadLanceDb(testCacheDir);
  const indexed = async (memories: readonly StoredMemory[]) => {
    const { base } = await bases.rewrite("acc", null, changesOf(memories), OPTIONS);
    const connection = await lancedb.connect(bases.folder);
    const indices = await (await connection.openTable(base)).listIndices();
    connection.close();
    return indices.flatMap(({ columns }) => columns);
  };
  const memories = await storedMemories(0, 10_001);
  expect(await indexed(memories)).toEqual(["id"]);
  expect(await indexed(memories.slice(1))).toEqual([]);
});

test("an append that fails leaves the base as it was, and it is rewritten from there", async () => {
  for (const step of ["rows added", "added files kept"] as const) {
    const fault = failAt(step, () => {
      throw new Error("no more");
    });
    const bases = await testBases(fault.step);
    const first = await storedMemories(0, 10);
    const base = await bases.open(await bases.rewrite("acc", null, changesOf(first), OPTIONS));
    const { checkpoint } = base;
    fault.arm();
    expect(await outcomeOf(bases.append(base, await storedMemories(10, 12), 8))).toThrow("no more");
    expect(base.checkpoint).toEqual(checkpoint);
    expect(await allOf(base)).toEqual(first);
    // What it has added must not come to light.
    expect(await outcomeOf(bases.append(base, await storedMemories(12, 13), 9))).toThrow("ahead");
    const added = await storedMemories(20, 21);
    const after = await bases.rewrite("acc", base, changesOf(added), OPTIONS);
    expect(await allOf(await bases.open(after))).toEqual([...first, ...added]);
    await bases.vault.restore(checkpoint.base, checkpoint.files);
    const restarted = await testBases(undefined, bases.folder);
    expect(await allOf(await restarted.open(checkpoint))).toEqual(first);
  }
});

test("a file that was not written to its end is noticed by append and rewrite", async () => {
  let folder = "";
  const tear = () => {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    const newest = entries.filter(
      ({ parentPath, name }) => parentPath.endsWith("data") && name.endsWith(".lance"),
    );
    for (const { parentPath, name } of newest) truncateSync(join(parentPath, name), 100);
  };
  const appending = failAt("rows added", tear);
  const rewriting = failAt("base written", tear);
  const bases = await testBases((step) => {
    appending.step(step);
    rewriting.step(step);
  });
  folder = bases.folder;
  rewriting.arm();
  const memories = await storedMemories(0, 10);
  expect(
    await rejectionOf(bases.rewrite("acc", null, changesOf(memories), OPTIONS)),
  ).toBeInstanceOf(TornFile);
  await bases.rewrite("other", null, changesOf(memories), OPTIONS);
  expect(await bases.vault.bases()).toEqual([expect.stringContaining("other")]);
});

test("what a failed rewrite wrote is removed, and the former base is as it was", async () => {
  for (const step of ["base written", "base kept"] as const) {
    const fault = failAt(step, () => {
      throw new Error("no more");
    });
    const bases = await testBases(fault.step);
    const first = await storedMemories(0, 10);
    const base = await bases.open(await bases.rewrite("acc", null, changesOf(first), OPTIONS));
    fault.arm();
    const rewriting = bases.rewrite("acc", base, changesOf([], [idOf(1)]), OPTIONS);
    expect(await rewriting.catch(String)).toContain("no more");
    expect(await bases.vault.bases()).toEqual([base.checkpoint.base]);
    expect(await allOf(base)).toEqual(first);
  }
});

test("every step of append, rewrite and index is told, in order", async () => {
  const steps: string[] = [];
  const bases = await testBases((step) => {
    steps.push(step);
  });
  const base = await bases.open(
    await bases.rewrite("acc", null, changesOf(await storedMemories(0, 2)), OPTIONS),
  );
  await bases.append(base, await storedMemories(2, 3), 8);
  await bases.index(base, true);
  expect(steps).toEqual([
    ...FLUSH_STEPS.slice(2, 4),
    ...FLUSH_STEPS.slice(0, 2),
    ...FLUSH_STEPS.slice(4, 6),
  ]);
});

test("vectors of another model are never mixed in", async () => {
  const bases = await testBases();
  const base = await bases.open(
    await bases.rewrite("acc", null, changesOf(await storedMemories(0, 2)), OPTIONS),
  );
  const other = { ...model, id: "other" };
  expect(
    await outcomeOf(bases.rewrite("acc", base, changesOf([]), { upTo: 8, model: other })),
  ).toThrow("model");
});
