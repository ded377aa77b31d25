import { CtxdError } from "../../errors.ts";
import { hashOf } from "../../system/file-digest.ts";
import type { Likenesses } from "./likenesses/likenesses.ts";
import type {
  Checkpoint,
  CurrentTable,
  Entry,
  Head,
  IdempotencyRecord,
  Lease,
  LoggedEntry,
} from "./records.ts";
import type { SharedLog } from "./shared-log.ts";

/** The account of a table, a base or its folder, from the name. */
export function accountOf(name: string): string {
  return name.replace(/\..*$/s, "");
}

/** The name of an account's table for another model than that of its first table. */
export function tableFor(accountId: string, model: string): string {
  return `${accountId}.${hashOf(model).slice(0, 8)}`;
}

/** The folder of a base in a data folder or a backup. */
export function baseFolder(base: string): string {
  return `memories/${base}.lance`;
}

/** The manifest of a version, from which LanceDB reads the base. LanceDB counts down, so the newest sorts first. */
export function manifestFile(version: number): string {
  const name = String(2n ** 64n - 1n - BigInt(version)).padStart(20, "0");
  return `_versions/${name}.manifest`;
}

/**
 * Whether a base belongs to a table: it has the table's name, with or without a suffix.
 * @param others names of the other tables; a base with one of these names belongs to that table
 */
export function isBaseOf(base: string, table: string, others: ReadonlySet<string>): boolean {
  return base === table || (base.replace(/\.[^.]*$/, "") === table && !others.has(base));
}

/** Milliseconds for which an answer is kept. */
export const ANSWER_LIFETIME = 24 * 3_600_000;

/**
 * The log: every change of memories since the last flush, and the records of each table. A write is answered when
 * its entry is committed. A table's name is the account's id, or that id with a suffix for the vectors of
 * another model.
 */
interface CommonLog {
  /**
   * Commits an entry, with its usage and answers, and resolves to its number. Entries that are appended at the
   * same moment may share one transaction, also those of different tables.
   * @throws StaleAppendError when the entry does not follow the table's newest one; AnswersTaken when one of its keys
   *   already has an answer; OutcomeUnknown when the entry may have been committed or not, which stays unknown
   *   until another entry follows; or the database's error, after which the entry does not exist, also after a
   *   restart
   */
  append(table: string, entry: Entry): Promise<number>;
  /** Entries that no checkpoint includes, the oldest first. */
  entries(table: string): Promise<LoggedEntry[]>;
  /** The head of a table; `null` if nothing was ever written to it. */
  head(table: string): Promise<Head | null>;
  /** Names of all tables that have a head, an entry or a checkpoint. */
  tables(): Promise<string[]>;
  /** How many entries all tables have, including those that `expunge` will remove. */
  size(): Promise<number>;
  /**
   * Records a durable base, which replaces the entries that it includes. If the disk fails, the checkpoint may
   * still be recorded after a restart: the former base and the new one must stay until a later call for this
   * table has succeeded.
   * @param lease of the table, if it has several writers
   * @throws LeaseLost when another process may have taken over
   */
  checkpoint(table: string, checkpoint: Checkpoint, lease?: Lease): Promise<void>;
  /**
   * Removes forgotten data, and the entries that checkpoints include, from the files. This takes long, and lets
   * other statements run in between.
   * @param table the table that is urgent; those of others may stay until another call
   * @returns false when another process is reading the files; then it is retried until it succeeds
   */
  expunge(table?: string): Promise<boolean>;
  /** The answer that was recorded for a key after a time (milliseconds since 1970). */
  answer(accountId: string, keyHash: string, since: number): Promise<IdempotencyRecord | null>;

  /**
   * Accounts of which a memory has expired, or may have, the longest expired first. Of several processes, only one
   * at a time receives an account.
   * @param now milliseconds since 1970
   */
  expired(now: number, limit: number): Promise<string[]>;
  /**
   * Records when the first memory of a table expires (`null` for never), if the entry `seq` is still the newest.
   * @returns whether it was recorded
   */
  setExpiry(table: string, seq: number, at: number | null): Promise<boolean>;

  /** The table that has an account's memories, and the model of its vectors. */
  current(accountId: string): Promise<CurrentTable | null>;
  /** The current tables of all accounts. */
  allCurrent(): Promise<(CurrentTable & { accountId: string })[]>;
  readonly likenesses: Likenesses;
}

/** The log of a data folder, to which no other process writes. */
export interface LocalLog extends CommonLog {
  /** Names of the tables with entries that no checkpoint includes: a flush of them is due. */
  unflushed(): Promise<string[]>;
  /** Drops all records of tables. They leave the files when `expunge` succeeds. */
  forget(tables: readonly string[]): Promise<void>;
  /** Makes a table the account's current one. The caller must forget a former one of another name. */
  setCurrent(accountId: string, table: CurrentTable): Promise<void>;
  readonly shared?: undefined;
}

/** The log of a data folder, or one that several processes write to. */
export type Log = LocalLog | (CommonLog & { readonly shared: SharedLog });

/** An entry was to follow one that is not the table's newest. */
export class StaleAppendError extends CtxdError {
  readonly code = "log_behind";
}

/** Some of an entry's keys already have answers. */
export class AnswersTaken extends CtxdError {
  readonly code = "answers_taken";
  constructor(readonly answers: readonly Pick<IdempotencyRecord, "accountId" | "keyHash">[]) {
    super("a key has been answered by another process");
  }
}
