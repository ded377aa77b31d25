import { CtxdError } from "../../errors.ts";
import type { FileDigest } from "../../system/file-digest.ts";
import type { Usage } from "../model/quota.ts";
import type { Checkpoint, CurrentTable, Lease, LoggedEntry } from "./records.ts";

/** What files of a base contain, by name. */
export type Contents = Readonly<Record<string, FileDigest>>;

/**
 * The database's records of the bases in an object store. They decide which bases are wanted. A base that is not
 * wanted never becomes wanted again. Names are never used twice.
 */
export interface BaseRecords {
  /**
   * Records that a base is being written. Call this before the first object is written.
   * @throws when this process may not write to the base's table now
   */
  begin(base: string): Promise<void>;
  /**
   * Records what files of a base contain, before a checkpoint refers to them. A version that got no checkpoint may
   * be written again with the same names: then the later content counts.
   */
  describe(base: string, contents: Contents): Promise<void>;
  /** What the files of a base contain. Files that an earlier version has stored are missing. */
  contents(base: string): Promise<Contents>;
  /** Those of some bases to which a checkpoint refers, or which are being written. */
  wanted(bases: readonly string[]): Promise<Set<string>>;
  /**
   * Those of some bases whose accounts exist, or that are recorded. Others may be in use by another installation
   * that was given the same place by mistake.
   */
  ours(bases: readonly string[]): Promise<Set<string>>;
  /**
   * Marks bases for removal, except those to which a checkpoint refers. From then on, no checkpoint that
   * refers to a marked base can be recorded.
   * @returns the bases to remove, including those that were never recorded
   */
  condemn(bases: readonly string[]): Promise<string[]>;
  /**
   * All recorded bases to remove: `condemn` marked them, a checkpoint has replaced them, their table was
   * forgotten, or the process that wrote them lost its lease before it recorded a checkpoint.
   */
  condemned(): Promise<string[]>;
  /** Drops the records of bases whose objects have been removed. */
  gone(bases: readonly string[]): Promise<void>;
}

/** Milliseconds that a lease lasts unless it is renewed. */
export const LEASE = 15_000;

/**
 * The functions of a log that several processes share. Any of them may append to any table: the number of the table's
 * newest entry decides which append succeeds. Leases are only for work in the background.
 */
export interface SharedLog extends Leases {
  /** The position of an account's table; `null` when there is no such account. */
  position(accountId: string): Promise<TablePosition | null>;
  /** The heads of tables, without those that no longer exist. */
  heads(tables: readonly string[]): Promise<TableHead[]>;
  /**
   * A table's newest number and its first entries after a number, read in one statement. `null` when the table no
   * longer exists, was never written to, or has been dropped and created again since that entry.
   */
  since(table: string, seq: number): Promise<Since | null>;

  /** Tables whose upkeep is overdue: the process that should do it has ended, or can't do it. */
  overdue(limit: number): Promise<string[]>;

  /** Records the model of an account's table, if it still is the account's table. */
  setModel(accountId: string, table: CurrentTable): Promise<void>;
  /**
   * Replaces an account's table by its copy, and drops all records of the former table.
   * @param seq number of the last entry of the former table that the copy includes; 0 if it has none
   * @returns false when the former table has a newer entry
   * @throws LeaseLost
   */
  replace(
    accountId: string,
    tables: { from: string; seq: number; to: CurrentTable },
    lease: Lease,
  ): Promise<boolean>;
  /** Leases for copying an account's table, by the account's id. They are separate from those for upkeep. */
  readonly copying: Leases;
  /**
   * Drops copies for other models that no process writes any more: data that is deleted from the table would stay
   * in them.
   * @param isWanted whether this process would continue a copy
   * @returns the names of the dropped copies
   */
  forgetCopies(isWanted: (table: string, accountId: string) => boolean): Promise<string[]>;
  /** Drops all records of an account's tables. Returns the names of its bases. */
  forgetAccount(accountId: string): Promise<string[]>;
  /** Drops expired answers. */
  expireAnswers(): Promise<void>;
  /** The records of bases. */
  readonly records: BaseRecords;
}

export interface Leases {
  /**
   * Takes a lease; `null` when another owner has it. The epoch rises unless the same owner had the lease last.
   */
  lease(table: string, owner: string): Promise<Lease | null>;
  /** Renews a lease. Returns whether the lease was still valid. */
  renew(lease: Lease): Promise<boolean>;
  release(lease: Lease): Promise<void>;
}

export interface Since {
  seq: number;
  /** Number of the last entry that a checkpoint includes. Entries up to this number may be missing. */
  upTo: number;
  /** The model of the table's vectors, if it is an account's current table. */
  model: string | null;
  /** The first entries, as many as one statement reads. */
  entries: NumberedEntry[];
}

/** The state of a table. */
export interface TableHead {
  table: string;
  /** Number of its newest entry. */
  seq: number;
  checkpoint: Pick<Checkpoint, "base" | "version" | "upTo"> | null;
}

/** The state of an account's current table. */
export interface TablePosition extends TableHead {
  /** `null` if nothing was ever written to it. */
  model: string | null;
}

export interface NumberedEntry extends LoggedEntry {
  id: string;
  /** What the table holds after this entry. */
  usage: Usage;
}

/** Another owner has the lease, or may have it. */
export class LeaseLost extends CtxdError {
  readonly code = "lease_lost";
}

/**
 * Runs a task under a lease, which is renewed meanwhile. A lost lease is noticed when the task records its
 * result.
 * @returns false when another process has the lease; then the task did not run
 */
export async function withLease(
  leases: Leases,
  { table, owner }: { table: string; owner: string },
  task: (lease: Lease) => Promise<void>,
): Promise<boolean> {
  const lease = await leases.lease(table, owner);
  if (!lease) return false;
  const renew = () => void leases.renew(lease).catch(() => {});
  const timer = setInterval(renew, LEASE / 3).unref();
  try {
    await task(lease);
    return true;
  } finally {
    clearInterval(timer);
    // If releasing fails, the lease expires.
    await leases.release(lease).catch(() => {});
  }
}
