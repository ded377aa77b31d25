import { expect, test } from "bun:test";
import type { Filter } from "../../src/memories/filter.ts";
import { createRowCache } from "../../src/memories/row-cache.ts";
import type { StoredMemory } from "../../src/memories/rows.ts";
import { openTable } from "../../src/memories/table.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { createRandom } from "../support/random.ts";

const random = createRandom(5);
const TAGS = ["red", "blue", "it's", "緑"];
const AGENTS = ["ada", "O'Hara"];
const SESSIONS = ["s1", "s2", "s3"];
const WORDS = ["apple", "pear", "plum", "quince"];

const some = <Value>(values: readonly Value[]) => values.filter(() => random.below(2) === 0);
const maybe = <Value>(value: Value) => (random.below(3) === 0 ? value : null);

function filterOf(): Filter {
  const at = random.below(200);
  return {
    ...(maybe(1) && { tags: some(TAGS), tagsMatch: random.below(2) ? "any" : "all" }),
    ...(maybe(1) && { agentId: random.pick(AGENTS) ?? "" }),
    ...(maybe(1) && { sessionId: random.pick(SESSIONS) ?? "" }),
    ...(maybe(1) && { createdAfter: at }),
    ...(maybe(1) && { createdBefore: at + random.below(100) }),
  };
}

test("what passes a filter in memory is what LanceDB lets pass", async () => {
  const embedder = fakeEmbedder();
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const cache = createRowCache(1 << 24);
  const kept = cache.open(embedder.model.dimension);
  const open = (of: typeof cache) => openTable(lancedb, connection, "t", embedder.model, of);
  const inMemory = await open({ open: () => kept });
  const memories = await Promise.all(
    Array.from({ length: 200 }, async (_, index): Promise<StoredMemory> => {
      const content = `${random.pick(WORDS)} and ${random.pick(WORDS)}`;
      const [vector] = await embedder.embedContent(content);
      if (!vector) throw new Error("no vector");
      return {
        ...{ id: `id ${index}`, content, importance: 0.5, metadata: "{}", tags: some(TAGS) },
        ...{
          agentId: maybe(random.pick(AGENTS) ?? ""),
          sessionId: maybe(random.pick(SESSIONS) ?? ""),
        },
        ...{ createdAt: index, updatedAt: index },
        // Some have a further passage.
        vectors: index % 5 === 0 ? [vector, vector] : [vector],
      };
    }),
  );
  const outcome = { written: memories, isNew: true, removed: [] };
  await inMemory.write(inMemory.encode(memories), outcome);
  const onDisk = await open(createRowCache(0));
  const query = await embedder.embedQuery("apple");
  // The first search has all rows read.
  await inMemory.nearest(query, {}, 1);
  while (kept.index.size !== 240) await Bun.sleep(1);

  for (let turn = 0; turn < 60; turn++) {
    const filter = filterOf();
    const wanted = { sessions: some(SESSIONS), ids: some(["id 3", "id 20", "id 111"]) };
    const [a, b] = await Promise.all(
      [inMemory, onDisk].map(async (table) => {
        const found = [
          await table.nearest(query, filter, 1_000),
          await table.matching("apple or plum", filter, 1_000, false),
          await table.around(wanted, filter, false),
        ];
        return found.map((rows) => rows.map(({ rowId }) => rowId).sort());
      }),
    );
    expect({ filter, wanted, found: a }).toEqual({ filter, wanted, found: b });
  }
  expect((await inMemory.nearest(query, { agentId: "ada" }, 3)).length).toBe(3);
}, 30_000);
