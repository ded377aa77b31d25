import { afterAll, beforeAll, expect, test } from "bun:test";
import { renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { createBaseCache } from "../../../src/memories/base/base-cache.ts";
import { createBases } from "../../../src/memories/base/bases.ts";
import { createObjectVault } from "../../../src/memories/base/object-vault.ts";
import { createSweep } from "../../../src/memories/base/sweep.ts";
import type { Checkpoint } from "../../../src/memories/log/records.ts";
import { loadLanceDb } from "../../../src/native/lancedb.ts";
import { createObjects } from "../../../src/objects/objects.ts";
import { createTestRecords } from "../../support/base-records.ts";
import { allOf, changesOf, idOf, model, storedMemories } from "../../support/bases.ts";
import { temporaryFolder } from "../../support/database.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { type ObjectStore, startObjectStore } from "../../support/object-store.ts";
import { rejectionOf } from "../../support/outcome.ts";
import { until } from "../../support/until.ts";

let store: ObjectStore;
beforeAll(async () => {
  store = await startObjectStore();
});
afterAll(() => store.end());

/** Replicas over one database and one bucket. */
async function createCluster() {
  const lancedb = await loadLanceDb(testCacheDir);
  const records = createTestRecords();
  const objects = createObjects(store.place(basename(temporaryFolder())));
  const replica = () => {
    const folder = join(temporaryFolder(), "memories");
    const cache = createBaseCache({ folder, limit: 1 << 30 });
    const parts = { objects, records, cache };
    const vault = createObjectVault(parts);
    const restore = ({ base, files }: Checkpoint) => vault.restore(base, files);
    const bases = createBases({ lancedb, folder, vault, restore });
    return { folder, cache, vault, bases, sweep: createSweep(parts) };
  };
  return { records, replica };
}

type Replica = ReturnType<Awaited<ReturnType<typeof createCluster>>["replica"]>;

/** Two replicas, and a base that the first one wrote. */
async function setUp() {
  const { records, replica } = await createCluster();
  const writer = replica();
  const memories = await storedMemories(0, 300);
  const written = await writer.bases.rewrite("acc", null, changesOf(memories), { upTo: 1, model });
  const first = await writer.bases.open(written);
  const checkpoint = await writer.bases.index(first, false);
  records.record(checkpoint.base);
  const reader = replica();
  await reader.vault.restore(checkpoint.base, checkpoint.files);
  return { memories, checkpoint, writer, first, reader };
}

test("another replica reads what one has written, and has its files as long as they are open", async () => {
  const { memories, checkpoint, reader } = await setUp();
  const base = await reader.bases.open(checkpoint);
  expect(reader.cache.holds(checkpoint.base)).toBe(1);
  expect(base.isIndexed).toBe(true);
  expect(await allOf(base)).toEqual(memories);
  base.close();
  base.close();
  expect(reader.cache.holds(checkpoint.base)).toBe(0);
});

test("what no reader of the newest version needs is not sent", async () => {
  const { writer, first, reader, checkpoint, memories } = await setUp();
  const versions = checkpoint.files.filter((file) => file.startsWith("_versions/"));
  // One of the first checkpoint, which had to be sent, and one of the index.
  expect(versions).toHaveLength(2);
  expect(checkpoint.files.filter((file) => file.startsWith("_transactions/"))).toEqual([]);
  const added = await storedMemories(300, 320);
  const appended = await writer.bases.append(first, added, 2);
  await reader.vault.restore(appended.base, appended.files);
  const base = await reader.bases.open(appended);
  expect(await allOf(base)).toEqual([...memories, ...added]);
  // Nor does who writes to such a base.
  const more = await storedMemories(320, 330);
  await reader.bases.append(base, more, 3);
  const indexed = await reader.bases.index(base, false);
  await writer.vault.restore(indexed.base, indexed.files);
  expect(await allOf(await writer.bases.open(indexed))).toEqual([...memories, ...added, ...more]);
});

const QUESTION = { filter: {}, limit: 3, except: [] };

test.each([
  ["find", 2],
  ["load", 2],
  ["states", 2],
  ["firstVectors", 2],
  ["list", 300],
  ["search", 3],
  ["countTexts", 1],
  ["read", 300],
  ["scan", 300],
] as const)(
  "a reader hears nothing of it when files vanish while they are open: %s",
  async (method, found) => {
    const { checkpoint, reader, memories } = await setUp();
    const base = await reader.bases.open(checkpoint);
    const ids = [idOf(1), idOf(2)];
    const ask = {
      find: () => base.find(ids),
      load: () => base.load(ids),
      states: async () => [...(await base.states(ids))],
      firstVectors: async () => [...(await base.firstVectors(ids))],
      list: () => base.list({}, { from: null, except: [] }),
      search: () =>
        base.search({ ...QUESTION, vector: memories[1]?.vectors[0] ?? null, words: [] }),
      countTexts: async () => [...(await base.countTexts(["number"]))],
      read: async () => (await Array.fromAsync(base.read())).flat(),
      scan: async () => (await Array.fromAsync(base.scan())).flat(),
    };
    rmSync(reader.folder, { recursive: true });
    expect(await ask[method]()).toHaveLength(found);
  },
);

test("a base whose files have vanished is written as a whole at the second try", async () => {
  const { writer, first, memories } = await setUp();
  rmSync(writer.folder, { recursive: true });
  const rewrite = () =>
    writer.bases.rewrite("acc", first, changesOf([], [idOf(0)]), { upTo: 2, model });
  const next = await rewrite().catch(rewrite);
  expect(await allOf(await writer.bases.open(next))).toEqual(memories.slice(1));
});

/** Begins to write a base by two commits of LanceDB. Resolves once the first one is done. */
async function beginBase({ bases, cache }: Pick<Replica, "bases" | "cache">) {
  const content = "word ".repeat(600);
  const memories = (await storedMemories(0, 4_000)).map((each) => ({ ...each, content }));
  const writing = bases.rewrite("acc", null, changesOf(memories), { upTo: 1, model });
  const base = await until(
    "the first commit",
    async () => {
      const [begun = ""] = await cache.bases();
      return (await cache.files(begun)).some((file) => file.startsWith("_versions/")) && begun;
    },
    0,
  );
  return { memories, writing, base };
}

test("a base that is being written is not swept as an unused one", async () => {
  const { bases, cache, sweep } = (await createCluster()).replica();
  const { memories, writing } = await beginBase({ bases, cache });
  expect(await sweep.cached()).toBe(0);
  expect(await allOf(await bases.open(await writing))).toEqual(memories);
});

test("a base is not recorded when files of it vanish while it is written", async () => {
  const { bases, cache } = (await createCluster()).replica();
  const { writing, base } = await beginBase({ bases, cache });
  renameSync(cache.pathOf(base), `${cache.pathOf(base)}-gone`);
  expect(String(await rejectionOf(writing))).toMatch(/vanished|No such file|Not found/);
  expect(await cache.bases()).toEqual([]);
});

test("while the store is away, who needs a lost file is told to come again", async () => {
  const { checkpoint, reader } = await setUp();
  const base = await reader.bases.open(checkpoint);
  rmSync(reader.folder, { recursive: true });
  await store.stop();
  try {
    expect(await rejectionOf(base.load([idOf(1)]))).toMatchObject({
      code: "unavailable",
      retryAfter: 5,
    });
  } finally {
    await store.start();
  }
  expect(await base.load([idOf(1)])).toHaveLength(1);
});
