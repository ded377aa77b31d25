import type { MemoryCodec } from "../base/base.ts";
import type { Outcome } from "../log/pending.ts";
import type { NumberedEntry, SharedLog } from "../log/shared-log.ts";
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
    const since = await log.since(table.name, table.seq);
    // A database that was restored may have less than before.
    if (!since || since.upTo > table.seq || since.seq < table.seq) throw new WriterEnded();
    for (const entry of since.entries) {
      const outcome = decodeEntry(codec, entry);
      await table.apply(entry.seq, outcome, entry.usage);
      onReplay(outcome);
    }
    return new Set(since.entries.map(({ id }) => id));
  };
}
