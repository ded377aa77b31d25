import { describe, expect, test } from "bun:test";
import { compact } from "../../src/memories/compact-vector.ts";
import { createRowCache, type FormerRows, type TableRows } from "../../src/memories/row-cache.ts";
import type { SearchRow, StoredMemory } from "../../src/memories/rows.ts";
import { type MemoryTable, openTable } from "../../src/memories/table.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

function rowOf(rowId: string): SearchRow {
  const at = { createdAt: 0, updatedAt: 0 };
  const vector = compact(new Float32Array(4_000));
  return { rowId, id: rowId, sessionId: null, importance: 0, ...at, vector, memory: null };
}

describe("rows that are kept", () => {
  test("go when there is no room for more, of all tables, unless they are used", () => {
    const cache = createRowCache(100_000);
    const [one, other] = [cache.open(4_000), cache.open(4_000)];
    one.add(rowOf("used"), 0, 0);
    one.add(rowOf("unused"), 1, 0);
    for (let address = 0; address < 50; address++) {
      other.add(rowOf(`row ${address}`), address, 0);
      expect(one.at(0)?.id).toBe("used");
    }
    expect(one.at(1)).toBeUndefined();
    const left = Array.from({ length: 50 }, (_, address) => other.at(address)?.id);
    expect(left.at(-1)).toBe("row 49");
    expect(left.filter(Boolean).length).toBeWithin(5, 12);
    // A row that is read again is not counted twice.
    for (let time = 0; time < 100; time++) one.add(rowOf("used"), 0, 0);
    expect(Array.from({ length: 50 }, (_, address) => other.at(address)?.id)).toEqual(left);
  });

  test("are known at their new address only, once they have moved", () => {
    const rows = createRowCache(1 << 20).open(4_000);
    rows.add(rowOf("a"), 1, 0);
    expect(rows.move("a", 7)).toBe(true);
    expect(rows.at(7)?.id).toBe("a");
    expect(rows.at(1)).toBeUndefined();
    expect(rows.move("b", 8)).toBe(false);
  });

  test("keep their vectors when they are read without", () => {
    const rows = createRowCache(1 << 20).open(4_000);
    rows.add(rowOf("a"), 1, 0);
    rows.add({ ...rowOf("a"), vector: null }, 2, 0);
    expect(rows.at(2)?.vector).not.toBeNull();
    expect(rows.at(1)).toBeUndefined();
  });

  test("are known by their session, as long as they are in it", () => {
    const rows = createRowCache(1 << 20).open(4_000);
    rows.add({ ...rowOf("a"), sessionId: "s" }, 1, 0);
    rows.change(["b"], [{ ...rowOf("b"), sessionId: "s" }]);
    expect(rows.ofSession("s").map(({ rowId }) => rowId)).toEqual(["a", "b"]);
    rows.change(["a", "b"], [{ ...rowOf("b"), sessionId: "t" }]);
    expect(rows.ofSession("s")).toEqual([]);
    expect(rows.ofSession("t").map(({ rowId }) => rowId)).toEqual(["b"]);
    expect(rows.size).toBe(1);
  });

  test("are not what a read saw that began before they changed", () => {
    const rows = createRowCache(1 << 20).open(4_000);
    const before = rows.epoch;
    rows.change(["a"], []);
    rows.add(rowOf("a"), 1, before);
    rows.add(rowOf("b"), 2, before);
    expect([rows.at(1), rows.at(2)?.id]).toEqual([undefined, "b"]);
    rows.add(rowOf("a"), 1, rows.epoch);
    expect(rows.at(1)?.id).toBe("a");
    // However many changes there have been since.
    for (let index = 0; index < 5_000; index++) rows.change([`other ${index}`], []);
    rows.add(rowOf("c"), 3, before);
    expect(rows.at(3)).toBeUndefined();
    const beforeAll = rows.epoch;
    rows.clear();
    rows.add(rowOf("d"), 4, beforeAll);
    expect([1, 2, 3, 4].map(rows.at)).toEqual([undefined, undefined, undefined, undefined]);
  });
});

test.each([
  ["kept", 1 << 20, 1 << 20],
  ["indexed, but not kept", 0, 1 << 20],
  ["kept, but not indexed", 1 << 20, 0],
  ["not kept", 0, 0],
])("a search sees the table as it is, rows being %s", async (_, kept, indexed) => {
  const embedder = fakeEmbedder();
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const cache = createRowCache(kept, indexed);
  const rows: TableRows[] = [];
  const open = (dimension: number) => {
    rows.push(cache.open(dimension));
    return rows.at(-1) as TableRows;
  };
  const table = await openTable(lancedb, connection, "t", embedder.model, { open });
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
  // The first search has read so few at once.
  expect(rows[0]?.index.size).toBe(indexed > 0 ? 2 : 0);
  expect(await seen()).toEqual(Array(3).fill(["apple", "pear"]));
  // Changed, moved, removed: the second search of each state meets rows that are known.
  await write(false, await memory("b", "plum"));
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["apple", "plum"]));
  await table.upkeep.optimize();
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["apple", "plum"]));
  await table.write(null, { written: [], isNew: false, removed: ["a"] });
  for (const _ of [1, 2]) expect(await seen()).toEqual(Array(3).fill(["plum"]));
  expect(rows[0]?.index.size).toBe(indexed > 0 ? 1 : 0);
});

test("what is in memory serves a table that is opened again, unless it has changed", async () => {
  const embedder = fakeEmbedder();
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const cache = createRowCache(1 << 20);
  const open = (former?: FormerRows) =>
    openTable(lancedb, connection, "t", embedder.model, cache, former);
  const save = async (table: MemoryTable, id: string, content: string) => {
    const at = { createdAt: 1, updatedAt: 1 };
    const vectors = await embedder.embedContent(content);
    const own = { tags: [], agentId: null, sessionId: null, importance: 0.5, metadata: "{}" };
    const written: StoredMemory[] = [{ id, content, ...own, ...at, vectors }];
    await table.write(table.encode(written), { written, isNew: true, removed: [] });
  };
  const found = async (table: MemoryTable) =>
    (await table.matching("apple or pear", {}, 10, true)).map(({ id }) => id).sort();

  const first = await open();
  await save(first, "a", "apple");
  expect(await found(first)).toEqual(["a"]);
  await save(first, "b", "pear");
  const left = await first.leave();
  expect(left.rows.size).toBeGreaterThan(0);
  const second = await open(left);
  expect(await found(second)).toEqual(["a", "b"]);
  await save(second, "c", "apple and pear");
  expect(left.rows.size).toBe(3);
  expect(await found(second)).toEqual(["a", "b", "c"]);

  const again = await second.leave();
  const other = await open();
  await save(other, "d", "pear");
  const third = await open(again);
  expect(again.rows.size).toBe(0);
  expect(await found(third)).toEqual(["a", "b", "c", "d"]);
});
