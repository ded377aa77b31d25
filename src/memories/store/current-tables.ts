import { accountOf, type LocalLog } from "../log/log.ts";
import type { CurrentTable } from "../log/records.ts";
import { WriterEnded } from "../table/writer.ts";
import { accountRemoved } from "./store.ts";

export type CurrentTables = Awaited<ReturnType<typeof loadCurrentTables>>;

/**
 * Which table has an account's memories. Kept in memory, since every use asks for it and no other process
 * changes it.
 */
export async function loadCurrentTables(log: Pick<LocalLog, "allCurrent" | "setCurrent">) {
  const tables = new Map<string, CurrentTable>();
  for (const { accountId, ...table } of await log.allCurrent()) tables.set(accountId, table);
  const refused = new Set<string>();
  const replaced = new Set<string>();

  /** @throws AppError `not_found` when the account is removed */
  const checkAccount = (accountId: string): void => {
    if (refused.has(accountId)) throw accountRemoved();
  };
  /** An account without memories has a table of its own name. */
  const nameOf = (accountId: string): string => tables.get(accountId)?.name ?? accountId;

  return {
    /**
     * @throws AppError `not_found` when the table's account is removed; WriterEnded when another table has
     *   replaced the table
     */
    checkUse(name: string): void {
      checkAccount(accountOf(name));
      if (replaced.has(name)) throw new WriterEnded();
    },
    nameOf,
    /** By account. */
    all: tables as ReadonlyMap<string, CurrentTable>,
    isCurrent: (name: string): boolean => nameOf(accountOf(name)) === name,

    /** Notes the table that an account's first commit has created. */
    noteFirst(accountId: string, table: CurrentTable): void {
      if (!tables.has(accountId)) tables.set(accountId, table);
    },
    /** Records another table as the account's. */
    async set(accountId: string, table: CurrentTable): Promise<void> {
      checkAccount(accountId);
      const former = nameOf(accountId);
      await log.setCurrent(accountId, table);
      tables.set(accountId, table);
      if (former !== table.name) replaced.add(former);
    },
    /** Refuses all further use of an account. */
    refuse(accountId: string): void {
      refused.add(accountId);
    },
    forget(accountId: string): void {
      tables.delete(accountId);
    },
  };
}
