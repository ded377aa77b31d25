import type { MemoryCodec } from "../base/base.ts";
import type { Outcome } from "../log/pending.ts";
import type { NumberedEntry, SharedLog, Since } from "../log/shared-log.ts";
import type { MemoryTable } from "../table.ts";
import { WriterEnded } from "../writer.ts";

/** What an entry of another process comes to. */
export function decodeEntry(codec: MemoryCodec, entry: NumberedEntry): Outcome {
  const { written, removed, hasRemains } = entry;
  return { written: written ? codec.decode(written) : [], removed, hasRemains };
}

/**
 * Makes what has a table take in the entries of others; only in the turn of its writer, so that no
 * commit of its own is under way.
 * @returns the ids of the entries
 * @throws WriterEnded when the table must be opened again: it is gone, or some of the entries are in a
 *   base alone
 */
export function createReplay({
  table,
  log,
  codec,
  onReplay,
}: {
  table: MemoryTable;
  log: Pick<SharedLog, "since">;
  codec: MemoryCodec;
  onReplay: (outcome: Outcome) => void;
}): () => Promise<Set<string>> {
  return async () => {
    const ids = new Set<string>();
    for (;;) {
      const since = await log.since(table.name, table.seq);
      if (!since || !isAsTaken(table, since)) throw new WriterEnded();
      for (const entry of since.entries) {
        const outcome = decodeEntry(codec, entry);
        await table.apply(entry.seq, outcome, entry.usage);
        onReplay(outcome);
        ids.add(entry.id);
      }
      if (table.seq >= since.seq) return ids;
    }
  };
}

/** Whether what a table lacks is all in the log, and its vectors are those of the table's model. */
function isAsTaken(table: MemoryTable, { seq, upTo, model }: Since): boolean {
  // A database that was restored may have less than before.
  if (upTo > table.seq || seq < table.seq) return false;
  // A table that was empty has the model that this process would have given it.
  return !table.wasEmpty || model === null || model === table.model.id;
}
