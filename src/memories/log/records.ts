import type { Database as Sqlite } from "bun:sqlite";
import type { Usage } from "../model/quota.ts";

export interface CurrentTable {
  name: string;
  /** Identity of the embedding model; `null` if an earlier version has not recorded it. */
  model: string | null;
}

/** A change of one table. It is committed completely or not at all. */
export interface Entry {
  /** Identity of the model of its vectors. The first entry of an account makes its table the current one. */
  model: string;
  /** Added and replaced memories, encoded by the `MemoryCodec`. */
  written: Uint8Array | null;
  /** Ids of memories removed. */
  removed: readonly string[];
  /** Whether the entry replaces or removes earlier data, which must leave the files. */
  leavesOldData: boolean;
  /** What the table holds after this entry. */
  usage: Usage;
  /** When the first of the written memories expires; `null` if none does. */
  expiresAt?: number | null;
  /** Answers of requests with an `Idempotency-Key`. Each replaces an expired answer with the same key. */
  answers: readonly IdempotencyRecord[];
  /** For tables that several processes write to. */
  shared?: SharedEntry;
}

export interface LoggedEntry extends Pick<Entry, "written" | "leavesOldData"> {
  seq: number;
  removed: string[];
}

/** The memories that a request with an `Idempotency-Key` created. */
export interface IdempotencyRecord {
  accountId: string;
  keyHash: string;
  requestHash: string;
  memoryIds: string[];
  /** Milliseconds since 1970. */
  createdAt: number;
}

export interface Head {
  /** Number of the newest entry. */
  seq: number;
  /** What the table holds; `null` if an earlier version of this program has not counted it. */
  usage: Usage | null;
  checkpoint: Checkpoint | null;
}

/** The usage of a head's row; `null` if an earlier version has not counted it. */
export function usageOf(memories: number | null, bytes: number | null): Usage | null {
  return memories === null || bytes === null ? null : { memories, bytes };
}

/** A durable base. The table consists of this base and the entries after `upTo`. */
export interface Checkpoint {
  /** Name of the base's folder, without its ending. */
  base: string;
  /** The version of the LanceDB table. */
  version: number;
  /** All files of that version, relative to the base's folder. LanceDB never changes a file. */
  files: string[];
  /** Number of the last entry that the base includes. */
  upTo: number;
}

type BaseVersion = Pick<Checkpoint, "base" | "version">;

/** Whether two checkpoints name the same version of the same base, or both are missing. */
export function isSameBase(
  one: BaseVersion | null | undefined,
  other: BaseVersion | null | undefined,
): boolean {
  return one?.base === other?.base && one?.version === other?.version;
}

/** Further fields of an entry in a table that several processes write to. */
interface SharedEntry {
  /** Identifies the entry, so that it can be found when the outcome of its commit is unknown. */
  id: string;
  /** Number of the entry that it follows. */
  after: number;
  /** The lease for copying, if the table is a copy. Without it, the copy must not be changed. */
  lease?: Lease;
}

/** The right of one owner to work on a table in the background. */
export interface Lease {
  table: string;
  owner: string;
  /** Rises with every new owner. */
  epoch: number;
}

/**
 * For processes that only read the database of a data folder, such as `ctxd doctor` and `ctxd backup`. They do not
 * migrate the database, so it may be of an earlier version.
 */

/** The recorded base of a table. */
export interface RecordedCheckpoint extends Pick<Checkpoint, "base" | "version" | "files"> {
  table: string;
}

type Row = Omit<RecordedCheckpoint, "files"> & { files: string };

/** The entries of all tables that wait for a flush. */
export interface LogFacts {
  entries: number;
  bytes: number;
  /** When the oldest entry was written, in milliseconds since 1970; `null` if unknown. */
  oldest: number | null;
}

// A table's name is the account's id, or begins with the id and a full stop.
const notRemoved = (table: string) =>
  `substr(${table}, 1, instr(${table} || '.', '.') - 1) NOT IN (SELECT id FROM removed_accounts)`;
const NOT_REMOVED = notRemoved("account_id");

/** The checkpoints of all tables whose accounts have not been removed. */
export function readCheckpoints(sqlite: Sqlite): RecordedCheckpoint[] {
  return sqlite
    .query<Row, []>(`${selectFrom(sqlite)} WHERE ${NOT_REMOVED} ORDER BY account_id`)
    .all()
    .map((row) => ({ ...row, files: JSON.parse(row.files) }));
}

/** How many tables there are, with and without bases. The database must be of this version. */
export function countTables(sqlite: Sqlite): number {
  const sql = `SELECT count(*) AS n FROM heads WHERE ${notRemoved("name")}`;
  return sqlite.query<{ n: number }, []>(sql).get()?.n ?? 0;
}

/**
 * Whether a checkpoint is still the table's newest. As long as it is, all its files exist: a newer checkpoint is
 * recorded before an older base is removed, and an account's removal is recorded before its tables are removed.
 */
export function isNewestCheckpoint(sqlite: Sqlite, checkpoint: RecordedCheckpoint): boolean {
  const row = sqlite
    .query<Row, [string]>(`${selectFrom(sqlite)} WHERE account_id = ? AND ${NOT_REMOVED}`)
    .get(checkpoint.table);
  return row?.base === checkpoint.base && row.version === checkpoint.version;
}

/** Counts the entries of all tables. */
export function readLogFacts(sqlite: Sqlite): LogFacts {
  const oldest = hasColumn(sqlite, "journal", "at") ? "min(at)" : "NULL";
  const facts = sqlite
    .query<LogFacts, []>(
      `SELECT count(*) AS entries, coalesce(sum(length(written)), 0) AS bytes, ${oldest} AS oldest FROM journal`,
    )
    .get();
  return facts ?? { entries: 0, bytes: 0, oldest: null };
}

function selectFrom(sqlite: Sqlite): string {
  const base = hasColumn(sqlite, "checkpoints", "base") ? "base" : "account_id";
  return `SELECT account_id AS "table", ${base} AS base, version, files FROM checkpoints`;
}

function hasColumn(sqlite: Sqlite, table: string, column: string): boolean {
  const found = sqlite.query("SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
  return found.get(table, column) !== null;
}
