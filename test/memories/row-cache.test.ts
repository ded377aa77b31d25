import { expect, test } from "bun:test";
import { createRowCache } from "../../src/memories/row-cache.ts";
import type { SearchRow, StoredMemory } from "../../src/memories/rows.ts";
import { openTable } from "../../src/memories/table.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

function rowOf(id: string, vectorLength: number): SearchRow {
  const vector = new Float32Array(vectorLength);
  return { id, sessionId: null, importance: 0, createdAt: 0, updatedAt: 0, vector, memory: null };
}

test("of all tables' rows the least recently used go first", () => {
  const cache = createRowCache(30_000);
  const [one, other] = [cache.open(), cache.open()];
  one.set(1, rowOf("one", 2_000));
  other.set(1, rowOf("other", 2_000));
  one.set(2, rowOf("two", 2_000));
  expect(one.get(1)?.id).toBe("one");
  other.set(2, rowOf("three", 2_000));
  expect(other.get(1)).toBeUndefined();
  expect([one.get(1), one.get(2), other.get(2)].map((row) => row?.id)).toEqual([
    "one",
    "two",
    "three",
  ]);
  // A row that is read again, with its vector this time, is not counted twice.
  for (let time = 0; time < 100; time++) one.set(1, rowOf("one", 2_000));
  expect([one.get(2), other.get(2)].map((row) => row?.id)).toEqual(["two", "three"]);
});

test.each([
  ["kept", 1 << 20],
  ["not kept", 0],
])("a search sees the table as it is, rows being %s", async (_, bytes) => {
  const embedder = fakeEmbedder();
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const table = await openTable(lancedb, connection, "t", embedder.model, createRowCache(bytes));
  const memory = async (id: string, content: string): Promise<StoredMemory> => ({
    id,
    content,
    tags: ["tag"],
    agentId: null,
    sessionId: "session",
    importance: 0.5,
    metadata: "{}",
    createdAt: 1,
    updatedAt: 1,
    vectors: await embedder.embedContent(content),
  });
  const write = async (isNew: boolean, ...memories: StoredMemory[]) => {
    await table.write(table.encode(memories), { written: memories, isNew, removed: [] });
  };
  const seen = async () => {
    const found = [
      await table.nearest(await embedder.embedQuery("apple"), {}, 10),
      await table.matching("apple pear plum", {}, 10, true),
      await table.around({ sessions: ["session"], ids: [] }, {}, false),
    ];
    expect(found[1]?.every(({ vector, bm25 }) => vector !== null && bm25 > 0)).toBe(true);
    expect(found[0]?.every(({ cosine }) => cosine !== null)).toBe(true);
    return found.map((rows) => rows.map(({ memory }) => memory?.content).sort());
  };

  await write(true, await memory("a", "apple"), await memory("b", "pear"));
  expect(await seen()).toEqual(Array(3).fill(["apple", "pear"]));
  // Changed, moved, removed: the second search of each state meets rows that are known.
  await write(false, await memory("b", "plum"));
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["apple", "plum"]));
  await table.upkeep.optimize();
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["apple", "plum"]));
  await table.write(null, { written: [], isNew: false, removed: ["a"] });
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["plum"]));
});
