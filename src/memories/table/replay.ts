import type { MemoryCodec } from "../base/base.ts";
import type { Outcome } from "../log/pending.ts";
import type { LoggedEntry } from "../log/records.ts";
import type { SharedLog, Since } from "../log/shared-log.ts";
import type { MemoryTable } from "./table.ts";
import { WriterEnded } from "./writer.ts";

/** The outcome that an entry of the log records. */
export function decodeEntry(codec: MemoryCodec, entry: LoggedEntry): Outcome {
  const { written, removed, leavesOldData } = entry;
  return { written: written ? codec.decode(written) : [], removed, leavesOldData };
}

/**
 * Returns a function that reads the entries of other processes into a table. It must run in the turn of the
 * table's writer, while no commit is running, and returns the ids of the entries.
 * @throws WriterEnded when the table must be opened again: it is gone, or a base has replaced some of the
 *   entries
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
      if (!since || !canContinue(table, since)) throw new WriterEnded();
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

/** Whether the log has all entries that a table lacks, and their vectors are of the table's model. */
function canContinue(table: MemoryTable, { seq, upTo, model }: Since): boolean {
  // A restored database may have fewer entries than before.
  if (upTo > table.seq || seq < table.seq) return false;
  // The model of an empty table was this process's choice; another process may have chosen another one.
  return !table.wasEmpty || model === null || model === table.model.id;
}
