import type { Embedder } from "../../embedding/embedder.ts";
import { CtxdError } from "../../errors.ts";
import type { Outcome } from "../log/pending.ts";
import type { Lease } from "../log/records.ts";
import { embeddingOf, type MemoryRow, type StoredMemory, toMemory } from "../model/rows.ts";
import type { OpenTables } from "../store/open-tables.ts";

/** The open table lacks entries that its copy has already received. */
export class CopyAhead extends CtxdError {
  readonly code = "copy_ahead";
  constructor() {
    super("the table lacks entries that its copy has received");
  }
}

export type TableCopy = ReturnType<typeof createTableCopy>;

/** The most memories and characters of one commit: larger commits would delay forgetting. */
const BATCH = 64;
const BATCH_CHARACTERS = 20_000;

export interface TableCopyOptions {
  from: string;
  to: string;
  wanted: Embedder;
  /** Of the copy, where several processes write to tables. */
  lease?: Lease;
  use: OpenTables["use"];
}

/** Copies a table to one with another model's vectors, while the first one changes. */
export function createTableCopy({ from, to, wanted, lease, use: useTable }: TableCopyOptions) {
  /**
   * Number of an entry of the first table. The changes of all entries up to it were compared or received.
   * Counted only where several processes write to tables: their logs number a table's entries one by one.
   */
  let seq = 0;
  /** Ids of memories that changed since the tables were compared, and of those that are not copied yet. */
  const changed = new Set<string>();
  const missing = new Set<string>();
  let total = 0;

  const use: OpenTables["use"] = (name, task) =>
    useTable(name, async (open) => {
      // A table that was opened a second time may lack entries that this copy has received.
      if (name === from && open.table.visibleSeq < seq) throw new CopyAhead();
      return await task(open);
    });

  /** Finds the memories that the copy lacks or has in another state, and those that only it has. */
  const compare = async () => {
    const copied = new Map<string, bigint>();
    await use(to, async ({ table }) => {
      for await (const rows of table.rows()) {
        for (const row of rows) copied.set(row.id, fingerprint(row));
      }
    });
    let count = 0;
    await use(from, async ({ table }) => {
      // Later entries are received.
      seq = table.visibleSeq;
      for await (const rows of table.rows()) {
        count += rows.length;
        for (const row of rows) {
          if (copied.get(row.id) !== fingerprint(row)) missing.add(row.id);
          copied.delete(row.id);
        }
      }
    });
    total = count;
    for (const id of copied.keys()) changed.add(id);
  };

  return {
    from,
    /** Number of the last entry of the first table that a copy without remaining memories includes. */
    get seq() {
      return seq;
    },
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

    /** Receives every commit of the first table while it is open, with the entry's number. */
    note(number: number, { written, removed }: Outcome): void {
      for (const { id } of written) changed.add(id);
      for (const id of removed) changed.add(id);
      if (number === seq + 1) seq = number;
    },

    /** Compares the tables to find what must be copied. */
    compare,

    /**
     * Reads the newest entries of the first table. Compares the tables again if it was closed and opened
     * meanwhile: entries that opening reads are not received.
     */
    async catchUp(): Promise<void> {
      const visibleSeq = await use(from, async ({ table }) => table.visibleSeq);
      if (seq < visibleSeq) await compare();
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
          await copyMemories({ from, to, ids: batch }, { wanted, lease, use });
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
  { wanted, lease, use }: { wanted: Embedder; lease: Lease | undefined; use: OpenTables["use"] },
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
      lease,
      apply(draft) {
        for (const id of removed) draft.remove(id);
        for (const memory of memories) draft.put(memory);
      },
    }),
  );
}

/** A hash of a memory without its vectors. */
function fingerprint(row: MemoryRow): bigint {
  return BigInt(Bun.hash(JSON.stringify(toMemory(row))));
}
