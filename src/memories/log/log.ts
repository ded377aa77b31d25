import { CtxdError } from "../../errors.ts";
import type { Usage } from "../quota.ts";
import type { Lease, SharedEntry, SharedLog } from "./shared-log.ts";

/** Milliseconds that an answer is kept. */
export const ANSWER_LIFETIME = 24 * 3_600_000;

/**
 * The log: every change of memories since the last flush, and what is known of each table. A write
 * is answered when its entry is committed, and nothing else has to be done for it. Tables go by
 * their names: that of the account, or the account's with a suffix for another model's vectors.
 */
export interface Log {
  /**
   * Commits an entry with all that must be true with it, and resolves to its number. Entries that
   * are appended at the same moment, of whatever tables, may share one transaction.
   * @throws Behind when the entry does not follow the table's newest one; AnswersTaken when a key of its
   *   answers has one; OutcomeUnknown when it may be there or not, which is so until another one follows; or
   *   what the database reports. Then nothing of the entry is there, now or after a restart
   */
  append(table: string, entry: Entry): Promise<number>;
  /** Entries that no checkpoint includes, the oldest first. */
  entries(table: string): Promise<LoggedEntry[]>;
  /** What is known of a table; `null` when nothing was ever written to it. */
  head(table: string): Promise<Head | null>;
  /** Names of all tables that have a head, an entry or a checkpoint. */
  tables(): Promise<string[]>;
  /** Names of tables that have entries which no checkpoint includes, so that a flush is due. */
  unflushed(): Promise<string[]>;
  /** How many entries of all tables there are, with those that are to be expunged. */
  size(): Promise<number>;
  /**
   * Records the base that a flush has made durable, in the place of the entries that it includes. When
   * it fails for the disk's sake it may be there after a restart nevertheless: the former base and the
   * new one must stay until a later call for this table has succeeded.
   * @param lease of the table, where it has several writers
   * @throws LeaseLost when others may have taken over
   */
  checkpoint(table: string, checkpoint: Checkpoint, lease?: Lease): Promise<void>;
  /**
   * Removes from the files what was forgotten and what checkpoints include, of all tables. It takes its
   * time, and others have their turns meanwhile.
   * @param table the one that is in a hurry; others may be left for another time
   * @returns false when another process is reading them; then it is tried again until it succeeds
   */
  expunge(table?: string): Promise<boolean>;
  /** Drops all that is known of tables, from the files as soon as `expunge` succeeds. */
  forget(tables: readonly string[]): Promise<void>;
  /** The answer that was recorded for a key after a moment (milliseconds since 1970). */
  answer(accountId: string, keyHash: string, since: number): Promise<Answer | null>;

  /**
   * Accounts of which a memory has expired, or may have, the one that has waited longest first. Where several
   * processes ask, each account is told to one of them at a time.
   * @param now milliseconds since 1970
   */
  expired(now: number, limit: number): Promise<string[]>;
  /**
   * Records when the first memory of a table expires, `null` for never, unless another entry has come
   * than the one with a number. Tells whether it is recorded.
   */
  setExpiry(table: string, seq: number, at: number | null): Promise<boolean>;

  /** The table that has an account's memories, and which model made its vectors. */
  current(accountId: string): Promise<CurrentTable | null>;
  /** Of all accounts. */
  allCurrent(): Promise<(CurrentTable & { accountId: string })[]>;
  /** Makes a table the account's. A former one of another name is to be forgotten. */
  setCurrent(accountId: string, table: CurrentTable): Promise<void>;

  /** What tables need that several processes write to; none where there is one process. */
  readonly shared?: SharedLog;
}

/** The newest entry of a table is not the one that another was to follow. */
export class Behind extends CtxdError {
  override readonly name = "Behind";
  readonly code = "log_behind";
}

/** Answers are recorded for some of an entry's keys. */
export class AnswersTaken extends CtxdError {
  override readonly name = "AnswersTaken";
  readonly code = "answers_taken";
  constructor(readonly answers: readonly Pick<Answer, "accountId" | "keyHash">[]) {
    super("a key has been answered by another process");
  }
}

export interface CurrentTable {
  name: string;
  /** Identity of the embedding model; `null` where an earlier version has not recorded it. */
  model: string | null;
}

/** A change of one table, whole or not at all. */
export interface Entry {
  /** Identity of the model of its vectors. The first entry of an account makes its table the current one. */
  model: string;
  /** Memories added or replaced, as `encodeMemories` makes them. */
  written: Uint8Array | null;
  /** Ids of memories removed. */
  removed: readonly string[];
  /** Whether something that was there before is replaced or removed, and has to leave the files. */
  hasRemains: boolean;
  /** What the table holds after this entry. */
  usage: Usage;
  /** When the first of the memories written expires; `null` where none does. */
  expiresAt?: number | null;
  /** Answers of requests with an `Idempotency-Key`. Each takes the place of an expired one with its key. */
  answers: readonly Answer[];
  /** For tables that several processes write to. */
  shared?: SharedEntry;
}

export interface LoggedEntry extends Pick<Entry, "written" | "hasRemains"> {
  seq: number;
  removed: string[];
}

/** Which memories a request with an `Idempotency-Key` made. */
export interface Answer {
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
  /** What the table holds; `null` when an earlier version of this program has not counted it. */
  usage: Usage | null;
  checkpoint: Checkpoint | null;
}

/** A base that is durable: the table is this base and the entries after `upTo`. */
export interface Checkpoint {
  /** Name of the base's folder, without its ending. */
  base: string;
  /** LanceDB's. */
  version: number;
  /** All files of that version, relative to the base's folder. LanceDB never changes one. */
  files: string[];
  /** Number of the last entry that it includes. */
  upTo: number;
}

type BaseVersion = Pick<Checkpoint, "base" | "version">;

/** Whether two checkpoints name the same version of the same base, or neither names one. */
export function isSameBase(
  one: BaseVersion | null | undefined,
  other: BaseVersion | null | undefined,
): boolean {
  return one?.base === other?.base && one?.version === other?.version;
}
