import { CtxdError } from "../../errors.ts";
import type { BaseRecords } from "../base/base-records.ts";
import type { Usage } from "../quota.ts";
import type { Checkpoint, CurrentTable, LoggedEntry } from "./log.ts";

/** The time that a lease lasts unless it is renewed, in milliseconds. */
export const LEASE = 15_000;

/**
 * What a log is asked besides where several processes write to the same tables. Any of them may append to
 * any table, and nothing but the number of a table's newest entry decides whose turn it is. Leases are
 * for what is done in the background alone.
 */
export interface SharedLog extends Leases {
  /** How an account's table stands now; `null` when there is no such account. */
  position(accountId: string): Promise<Position | null>;
  /** How tables stand now; those that are gone are left out. */
  heads(tables: readonly string[]): Promise<TableHead[]>;
  /**
   * A table's newest number and its first entries after a number, as they are at one moment; `null`
   * when the table is gone, or was never written to.
   */
  since(table: string, seq: number): Promise<Since | null>;

  /** Tables whose upkeep is late, since who should have done it has ended or can't do it. */
  overdue(limit: number): Promise<string[]>;

  /**
   * Makes a table the account's in the place of another one, of which nothing is known from then on.
   * @param seq number of the other one's newest entry, all of which the new one has
   * @returns false when the other one has a newer entry
   * @throws LeaseLost
   */
  replace(
    accountId: string,
    tables: { from: string; seq: number; to: CurrentTable },
    lease: Lease,
  ): Promise<boolean>;
  /** Leases of copying an account's table, by the id of the account: beside those of upkeep. */
  readonly copying: Leases;
  /**
   * Drops copies that were begun for other models and that nobody writes any more: what is deleted of
   * the table would stay in them.
   * @param isWanted whether a table is the copy that this process would go on with
   * @returns the names of those that were dropped
   */
  forgetCopies(isWanted: (table: string, accountId: string) => boolean): Promise<string[]>;
  /** Drops all that is known of an account's tables. Returns the names of its bases. */
  forgetAccount(accountId: string): Promise<string[]>;
  /** Drops answers that have expired. */
  expireAnswers(): Promise<void>;
  /** What is known of bases. */
  readonly records: BaseRecords;
}

export interface Leases {
  /**
   * Takes a lease; `null` when another owner has it. The number goes up unless the owner had it last.
   */
  lease(table: string, owner: string): Promise<Lease | null>;
  /** Has a lease last longer. Returns whether it was still there. */
  renew(lease: Lease): Promise<boolean>;
  release(lease: Lease): Promise<void>;
}

export interface Since {
  seq: number;
  /** Number of the last entry that a checkpoint includes: up to there, entries may be missing. */
  upTo: number;
  /** Of an account's table, what made its vectors. */
  model: string | null;
  /** The first ones: as many as may be read at once. */
  entries: NumberedEntry[];
}

/** How a table stands. */
export interface TableHead {
  table: string;
  /** Number of its newest entry. */
  seq: number;
  checkpoint: Pick<Checkpoint, "base" | "version" | "upTo"> | null;
}

/** The same of the table that is the account's. */
export interface Position extends TableHead {
  /** `null` when nothing was ever written to it. */
  model: string | null;
}

/** What an entry has besides, of a table that several processes write to. */
export interface SharedEntry {
  /** Its own, by which it is found where its outcome is not known. */
  id: string;
  /** Number of the entry that it follows. */
  after: number;
  /** That of copying, for a table that is a copy: without it, the copy must not be changed. */
  lease?: Lease;
}

export interface NumberedEntry extends LoggedEntry {
  id: string;
  /** What the table holds after it. */
  usage: Usage;
}

/** Who does what a table needs in the background. */
export interface Lease {
  table: string;
  owner: string;
  /** Goes up with every other owner. */
  epoch: number;
}

/** Another owner has the lease, or may have it. */
export class LeaseLost extends CtxdError {
  override readonly name = "LeaseLost";
  readonly code = "lease_lost";
}
