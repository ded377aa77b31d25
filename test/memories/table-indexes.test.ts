import { expect, test } from "bun:test";
import { createRowCache } from "../../src/memories/row-cache.ts";
import type { StoredMemory } from "../../src/memories/rows.ts";
import { openTable } from "../../src/memories/table.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

const { model } = fakeEmbedder();
const ALL = ["agent_id", "content", "created_at", "id", "session_id", "tags"];

function stored(number: number): StoredMemory {
  return {
    id: `mem_${number.toString(16).padStart(32, "0")}`,
    content: `number ${number}`,
    tags: [`tag${number % 10}`],
    agentId: null,
    sessionId: null,
    importance: 0.5,
    metadata: "{}",
    createdAt: number,
    updatedAt: number,
    vectors: [new Float32Array(model.dimension).fill(0.25)],
  };
}

test("a table has the indexes that its size is worth, as it grows and as it shrinks", async () => {
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const table = await openTable(lancedb, connection, "t", model, createRowCache(1 << 20));
  const indexed = async () => {
    const indexes = await (await connection.openTable("t")).listIndices();
    return indexes.flatMap(({ columns }) => columns).sort();
  };
  const add = (memories: StoredMemory[]) =>
    table.write(table.encode(memories), { written: memories, isNew: true, removed: [] });
  const tagged = async () => (await table.list({ tags: ["tag3"] }, null)).length;

  await add(Array.from({ length: 100 }, (_, number) => stored(number)));
  await table.upkeep.optimize();
  expect(await indexed()).toEqual(["content"]);
  expect(await tagged()).toBe(10);

  await add(Array.from({ length: 1_000 }, (_, number) => stored(100 + number)));
  await table.upkeep.optimize();
  expect(await indexed()).toEqual(ALL);
  expect(await tagged()).toBe(110);
  await table.upkeep.indexVectors();
  expect(await table.upkeep.rewrite()).toBe(false);

  const removed = Array.from({ length: 1_050 }, (_, number) => stored(number).id);
  await table.write(null, { written: [], isNew: false, removed });
  expect(await table.upkeep.rewrite()).toBe(true);
  expect(await table.upkeep.stats()).toMatchObject({ rows: 50, fragments: 1, deletedRows: 0 });
  await table.upkeep.rebuildIndexes();
  expect(await indexed()).toEqual(["content"]);
  expect(await tagged()).toBe(5);
  expect(await table.matching("1077", {}, 10, false)).toMatchObject([{ id: stored(1_077).id }]);

  await table.write(null, { written: [], isNew: false, removed: await table.list({}, null) });
  expect(await table.upkeep.rewrite()).toBe(true);
  await table.upkeep.rebuildIndexes();
  expect(await table.upkeep.stats()).toMatchObject({ rows: 0, fragments: 0, deletedRows: 0 });
});
