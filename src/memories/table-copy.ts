import type { Embedder } from "../embedding/embedder.ts";
import type { Outcome } from "./log/pending.ts";
import type { OpenTables } from "./open-tables.ts";
import { embeddingOf, type MemoryRow, type StoredMemory, toMemory } from "./rows.ts";

export type TableCopy = ReturnType<typeof createTableCopy>;

/** The most memories and characters of one commit: larger commits would delay forgetting. */
const BATCH = 64;
const BATCH_CHARACTERS = 20_000;

/** Copies a table to one with another model's vectors, while the first one changes. */
export function createTableCopy({
  from,
  to,
  wanted,
  use,
}: {
  from: string;
  to: string;
  wanted: Embedder;
  use: OpenTables["use"];
}) {
  /** Ids of memories that changed since the tables were compared, and of those that are not copied yet. */
  const changed = new Set<string>();
  const missing = new Set<string>();
  let total = 0;

  return {
    from,
    /** The number of memories of the first table when the two were compared. */
    get total() {
      return total;
    },
    /** The number of memories that are still to be copied. */
    get remaining() {
      return changed.size + missing.size;
    },
    /** The share of memories that are still to be copied, 0 to 1. */
    get remainingShare() {
      return total === 0 ? 1 : missing.size / total;
    },

    /** Receives every commit of the first table. */
    note({ written, removed }: Outcome): void {
      for (const { id } of written) changed.add(id);
      for (const id of removed) changed.add(id);
    },

    /** Compares the tables to find what must be copied. */
    async compare(): Promise<void> {
      const difference = await compareTables(from, to, use);
      total = difference.total;
      for (const id of difference.missing) missing.add(id);
      for (const id of difference.removed) changed.add(id);
    },

    /**
     * Copies batch by batch.
     * @param mayContinue is called before each batch
     */
    async run(mayContinue: () => boolean): Promise<void> {
      while (changed.size + missing.size > 0 && mayContinue()) {
        // Changed memories first: they may have been deleted.
        const batch = await takeBatch(from, changed.size > 0 ? changed : missing, use);
        for (const id of batch) {
          changed.delete(id);
          missing.delete(id);
        }
        try {
          await copyMemories({ from, to, ids: batch }, wanted, use);
        } catch (error) {
          for (const id of batch) changed.add(id);
          throw error;
        }
      }
    },
  };
}

/** The first ids of a set, as many as one commit takes. */
async function takeBatch(
  from: string,
  source: ReadonlySet<string>,
  use: OpenTables["use"],
): Promise<string[]> {
  const ids = source.values().take(BATCH).toArray();
  const rows = await use(from, ({ table }) => table.find(ids));
  const sizes = new Map(rows.map(({ id, content }) => [id, content.length]));
  let characters = 0;
  return ids.filter((id, index) => {
    characters += sizes.get(id) ?? 0;
    return index === 0 || characters <= BATCH_CHARACTERS;
  });
}

/** Copies memories to the second table, and removes those that the first one does not have. */
async function copyMemories(
  { from, to, ids }: { from: string; to: string; ids: readonly string[] },
  wanted: Embedder,
  use: OpenTables["use"],
): Promise<void> {
  const rows = await use(from, ({ table }) => table.find(ids));
  const present = await use(to, ({ table }) => table.load(ids));
  const embedded = new Map(present.map((memory) => [memory.id, memory]));
  const memories: StoredMemory[] = [];
  for (const row of rows) {
    const same = embedded.get(row.id);
    const isSame = same?.content === row.content;
    const embedding = isSame ? embeddingOf(same) : await wanted.embedContent(row.content);
    memories.push({ ...row, ...embedding });
  }
  const removed = new Set(ids);
  for (const { id } of rows) removed.delete(id);
  await use(to, ({ writer }) =>
    writer.change({
      ids,
      apply(draft) {
        for (const id of removed) draft.remove(id);
        for (const memory of memories) draft.put(memory);
      },
    }),
  );
}

/** Ids of memories that the second table lacks or has in another state, and of those that only it has. */
async function compareTables(from: string, to: string, use: OpenTables["use"]) {
  const copied = new Map<string, bigint>();
  await use(to, async ({ table }) => {
    for await (const rows of table.rows()) {
      for (const row of rows) copied.set(row.id, fingerprint(row));
    }
  });
  const missing: string[] = [];
  let total = 0;
  await use(from, async ({ table }) => {
    for await (const rows of table.rows()) {
      total += rows.length;
      for (const row of rows) {
        if (copied.get(row.id) !== fingerprint(row)) missing.push(row.id);
        copied.delete(row.id);
      }
    }
  });
  return { total, missing, removed: copied.keys() };
}

/** A hash of a memory without its vectors. */
function fingerprint(row: MemoryRow): bigint {
  return BigInt(Bun.hash(JSON.stringify(toMemory(row))));
}
