import type { Database as Sqlite } from "bun:sqlite";
import { tableFromIPC } from "apache-arrow";
import { decodeStored } from "./decode-rows.ts";

/** What waits in the journal for the next checkpoints. */
export interface JournalFacts {
  entries: number;
  bytes: number;
  /** Milliseconds since 1970 of the oldest write whose time is known; `null` when there is none. */
  oldest: number | null;
}

/** Reads the journal of a database of any process. */
export function readJournalFacts(sqlite: Sqlite): JournalFacts {
  const total = sqlite
    .query<{ entries: number; bytes: number }, []>(
      "SELECT count(*) AS entries, coalesce(sum(length(written)), 0) AS bytes FROM journal",
    )
    .get();
  const first = sqlite
    .query<{ written: Uint8Array }, []>(
      "SELECT written FROM journal WHERE written IS NOT NULL ORDER BY seq LIMIT 1",
    )
    .get();
  const times = first
    ? decodeStored(tableFromIPC(first.written)).map(({ updatedAt }) => updatedAt)
    : [];
  return {
    entries: total?.entries ?? 0,
    bytes: total?.bytes ?? 0,
    oldest: times.length > 0 ? Math.max(...times) : null,
  };
}
