import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseUnavailable, OutcomeUnknown } from "../../db/postgres-errors.ts";
import { type Log, StaleAppendError } from "../log/log.ts";
import type { Entry, Lease } from "../log/records.ts";
import type { MemoryTable } from "./table.ts";

/** How a writer shares its table with other processes. */
export interface Sharing {
  /**
   * Reads the entries of other processes into the table, and returns their ids. Only in the writer's turn.
   * @throws WriterEnded when this table must not be written any more
   */
  replay(): Promise<ReadonlySet<string>>;
}

/** Milliseconds for which a lost outcome is asked for, and between two tries. */
const OUTCOME_TIMEOUT_MS = 8_000;
const OUTCOME_RETRY_MS = 200;

/**
 * Appends an entry that must follow the table's newest one. If the database's answer is lost, the same entry
 * is appended again: at most one of the two can succeed.
 * @param lease of the copy that the entry is part of
 * @returns its number; `null` when it was read back with the entries of other processes
 */
export async function appendShared(
  entry: Entry,
  {
    table,
    log,
    sharing,
    lease,
  }: {
    table: MemoryTable;
    log: Pick<Log, "append">;
    sharing: Sharing;
    lease: Lease | undefined;
  },
): Promise<number | null> {
  const id = crypto.randomUUID();
  const shared = { id, after: table.seq, ...(lease && { lease }) };
  const append = () => log.append(table.name, { ...entry, shared });
  try {
    return await append();
  } catch (error) {
    if (!(error instanceof OutcomeUnknown)) throw error;
    return await appendAgain(append, { id, sharing, lost: error });
  }
}

async function appendAgain(
  append: () => Promise<number>,
  { id, sharing, lost }: { id: string; sharing: Sharing; lost: OutcomeUnknown },
): Promise<number | null> {
  for (const end = performance.now() + OUTCOME_TIMEOUT_MS; performance.now() < end; ) {
    await sleep(OUTCOME_RETRY_MS);
    try {
      return await append();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) continue;
      if (!(error instanceof StaleAppendError)) throw error;
      // Replay fails when a base has replaced entries: then the outcome stays unknown.
      const others = await sharing.replay().catch(() => null);
      if (others?.has(id)) return null;
      throw others ? error : lost;
    }
  }
  throw lost;
}
