import { eq } from "drizzle-orm";
import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Database } from "../db/database.ts";
import { checkpoints, journalEntries } from "./journal.ts";

/**
 * Per account: the table that has its memories, and the model that made its vectors. For vectors of
 * another model another table is made beside it, and takes its place when it is complete.
 */
export const tables = sqliteTable("tables", {
  accountId: text("account_id").primaryKey(),
  name: text().notNull(),
  model: text().notNull(),
});

export type Generations = ReturnType<typeof createGenerations>;

/** Which tables accounts have, and the change from one to another. */
export function createGenerations({ db }: { db: Pick<Database, "orm" | "truncateLog"> }) {
  const { orm } = db;
  /** Every use of a table asks. No other process writes to these records. */
  const known = new Map(
    orm
      .select()
      .from(tables)
      .all()
      .map((row) => [row.accountId, row]),
  );
  const recorded = (accountId: string) => known.get(accountId);

  const current = (accountId: string): string => recorded(accountId)?.name ?? accountId;

  return {
    /** The name of the account's table, whether it is there or to come. */
    current,

    /** Whether a table is one of an account's, and neither in use nor in the making. */
    isLeftOver(name: string, model: string): boolean {
      const accountId = accountOf(name);
      const isOurs = name === accountId || /^\w+\.[0-9a-f]{8}$/.test(name);
      const isKnown = isOurs && recorded(accountId) !== undefined;
      return isKnown && name !== current(accountId) && name !== this.next(accountId, model);
    },

    /** Notes which model made the account's first table. */
    record(accountId: string, model: string): void {
      if (recorded(accountId)) return;
      const row = { accountId, name: accountId, model };
      orm.insert(tables).values(row).run();
      known.set(accountId, row);
    },

    /** The table that is made for an account with another model, if one is wanted. */
    next(accountId: string, model: string): string | null {
      const present = recorded(accountId);
      return present && present.model !== model ? nextName(accountId, model) : null;
    },

    /** Accounts whose tables were made with another model than this. */
    outdated: (model: string): string[] =>
      [...known.values()].filter((row) => row.model !== model).map(({ accountId }) => accountId),

    /** Accounts whose tables are older than these records. */
    unrecorded: (): string[] =>
      orm
        .select({ name: checkpoints.table })
        .from(checkpoints)
        .all()
        .map(({ name }) => name)
        .filter((name) => name === accountOf(name) && !known.has(name)),

    /** Forgets an account. */
    forget(accountId: string): void {
      orm.delete(tables).where(eq(tables.accountId, accountId)).run();
      known.delete(accountId);
    },

    /** Makes another table the account's, at once and durably, and forgets the former one. */
    replace(accountId: string, model: string): void {
      const former = current(accountId);
      const next = { accountId, name: nextName(accountId, model), model };
      orm.transaction((tx) => {
        tx.update(tables).set(next).where(eq(tables.accountId, accountId)).run();
        tx.delete(journalEntries).where(eq(journalEntries.table, former)).run();
        tx.delete(checkpoints).where(eq(checkpoints.table, former)).run();
      });
      known.set(accountId, next);
      db.truncateLog();
    },
  };
}

/** The name of an account's table for a model that is not the one of its first table. */
function nextName(accountId: string, model: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(model).digest("hex");
  return `${accountId}.${hash.slice(0, 8)}`;
}

/** The account that a table belongs to, by the table's name or that of its folder. */
export function accountOf(name: string): string {
  return name.replace(/\..*$/s, "");
}
