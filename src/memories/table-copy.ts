import type { Embedder } from "../embedding/embedder.ts";
import type { Outcome } from "./log/pending.ts";
import type { OpenTables } from "./open-tables.ts";
import { embeddingOf, type MemoryRow, type StoredMemory, toMemory } from "./rows.ts";

export type TableCopy = ReturnType<typeof createTableCopy>;

/** Memories that one commit takes at most, and characters: forgetting must not wait long. */
const BATCH = 64;
const BATCH_CHARACTERS = 20_000;

/** Makes a table say what another one says, with another model's vectors, while that one changes. */
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
  /** Ids of memories that have changed since the tables were compared, and those not copied yet. */
  const changed = new Set<string>();
  const missing = new Set<string>();
  let total = 0;

  return {
    from,
    /** Memories of the first table when the two were compared. */
    get total() {
      return total;
    },
    /** How many are still to be copied. */
    get left() {
      return changed.size + missing.size;
    },
    /** The same as a share, 0 to 1. */
    get leftShare() {
      return total === 0 ? 1 : missing.size / total;
    },

    /** Receives every commit of the first table. */
    note({ written, removed }: Outcome): void {
      for (const { id } of written) changed.add(id);
      for (const id of removed) changed.add(id);
    },

    /** Finds what is to be copied. */
    async compare(): Promise<void> {
      const difference = await compareTables(from, to, use);
      total = difference.total;
      for (const id of difference.missing) missing.add(id);
      for (const id of difference.gone) changed.add(id);
    },

    /**
     * Copies, batch by batch.
     * @param mayGoOn is asked before each
     */
    async copy(mayGoOn: () => boolean): Promise<void> {
      while (changed.size + missing.size > 0 && mayGoOn()) {
        // Those that changed first: they may be forgotten ones.
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

/** The first of some memories, as many as one commit takes. */
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

/** Makes memories of the second table what they are in the first one. */
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
  const gone = new Set(ids);
  for (const { id } of rows) gone.delete(id);
  await use(to, ({ writer }) =>
    writer.change({
      ids,
      apply(draft) {
        for (const id of gone) draft.remove(id);
        for (const memory of memories) draft.put(memory);
      },
    }),
  );
}

/** Finds what is in the first table and not just so in the second, and what is in the second alone. */
async function compareTables(from: string, to: string, use: OpenTables["use"]) {
  const there = new Map<string, bigint>();
  await use(to, async ({ table }) => {
    for await (const rows of table.rows()) {
      for (const row of rows) there.set(row.id, fingerprint(row));
    }
  });
  const missing: string[] = [];
  let total = 0;
  await use(from, async ({ table }) => {
    for await (const rows of table.rows()) {
      total += rows.length;
      for (const row of rows) {
        if (there.get(row.id) !== fingerprint(row)) missing.push(row.id);
        there.delete(row.id);
      }
    }
  });
  return { total, missing, gone: there.keys() };
}

/** The same for memories that differ in their vectors alone. */
function fingerprint(row: MemoryRow): bigint {
  return BigInt(Bun.hash(JSON.stringify(toMemory(row))));
}
