import { AppError } from "../../errors.ts";
import type { Usage } from "../model/quota.ts";
import type { OpenTable } from "./pooled-table.ts";

/** The memories of all accounts, each account's in a table of its own. */
export interface Store {
  /**
   * Runs `task` on the account's table, which stays open meanwhile. If the table is replaced before a
   * write of the task, the task runs again on the new table.
   */
  use<Result>(accountId: string, task: (open: OpenTable) => Promise<Result>): Promise<Result>;
  /** Removes an account's memories, if there are any, and refuses new ones. */
  drop(accountId: string): Promise<void>;
  /** Bytes of an account's base on disk, and of its pending changes. */
  bytes(accountId: string): Promise<number>;
  /**
   * A text that differs after each change of the account's memories, whichever process made it, and after
   * a start.
   */
  position(accountId: string): Promise<string>;
  /** What an account keeps, as quotas count it. */
  usage(accountId: string): Promise<Usage>;
  /** Accounts that have memories. */
  accounts(): Promise<string[]>;
  /** The share of memories that have been embedded again by another model; null when none need it. */
  reembedded(): number | null;
  /**
   * Seconds since the oldest change whose upkeep is pending: an entry that no base includes, or a deletion
   * whose data is still in the files.
   */
  lag(): number;
  /** Ends background work and flushes the log. */
  close(): Promise<void>;
}

/** The answer to requests of an account that has been removed. */
export function accountRemoved(): AppError {
  return new AppError("not_found", "This account has been removed.");
}

/**
 * A store that can be used while it is being opened: calls wait until it is open, and fail if opening it
 * fails.
 */
export function deferredStore(opening: Promise<Store>): Store {
  let opened: Store | null = null;
  opening.then(
    (store) => {
      opened = store;
    },
    // Callers that wait receive the error. Without callers it must not count as unhandled.
    () => {},
  );
  return {
    use: async (accountId, task) => (await opening).use(accountId, task),
    drop: async (accountId) => (await opening).drop(accountId),
    bytes: async (accountId) => (await opening).bytes(accountId),
    position: async (accountId) => (await opening).position(accountId),
    usage: async (accountId) => (await opening).usage(accountId),
    accounts: async () => (await opening).accounts(),
    reembedded: () => opened?.reembedded() ?? null,
    lag: () => opened?.lag() ?? 0,
    close: () =>
      opening.then(
        (store) => store.close(),
        () => {},
      ),
  };
}
