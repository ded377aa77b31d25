import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Account, NewAccount } from "./account.ts";
import { normaliseEmail } from "./email.ts";
import { insertAccount, prepareAccount } from "./new-account.ts";
import { checkRemovable, createOwnership, findOwner } from "./ownership.ts";
import { createPasswords } from "./passwords.ts";
import { createAccountTables } from "./tables.ts";
import { unknownAccount } from "./unknown-account.ts";

/** What is said to whom has the right credentials of an account that is shut. */
export const DISABLED = "This account is disabled: ask the owner of the server.";

export type Accounts = ReturnType<typeof createAccounts>;

/** The store of accounts. `clock` gives milliseconds since 1970. */
export function createAccounts({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, account, invitations, removedAccounts } = tables;
  const ownership = createOwnership({ db, clock });

  const find = async (id: string): Promise<Account | null> => {
    const [found] = await orm.select(account).from(accounts).where(eq(accounts.id, id));
    return found ?? null;
  };

  const admitted = orm
    .select(account)
    .from(accounts)
    .where(and(eq(accounts.id, sql.placeholder("id")), isNull(accounts.disabledAt)))
    .prepare();

  const isEmpty = async (tx: Orm): Promise<boolean> =>
    (await tx.select({ id: accounts.id }).from(accounts).limit(1)).length === 0;

  const setDisabled = (id: string, disabledAt: Date | null): Promise<void> =>
    db.transaction(async (tx) => {
      const isThis = eq(accounts.id, id);
      const [found] = await tx.select(account).from(accounts).where(isThis);
      if (!found) throw unknownAccount();
      if (found.role === "owner") {
        throw new AppError("forbidden", "The owner of the server can't be disabled.");
      }
      await tx.update(accounts).set({ disabledAt }).where(isThis);
    });

  return {
    find,

    /**
     * The account, if it may be used now. Every way in asks this, on every request: what is not
     * admitted here has neither session, key nor token, in no process.
     */
    async admit(id: string): Promise<Account | null> {
      const [found] = await admitted.execute({ id });
      return found ?? null;
    },

    /**
     * Shuts an account until it is enabled: its keys rest, its sessions and the access of its apps
     * end, its memories stay.
     * @throws AppError `forbidden` for the owner, `not_found` for an unknown account
     */
    disable: (id: string): Promise<void> => setDisabled(id, new Date(clock())),

    /** Opens an account again. @throws AppError as `disable` */
    enable: (id: string): Promise<void> => setDisabled(id, null),

    /** Finds an account whatever the case of the address. */
    async findByEmail(email: string): Promise<Account | null> {
      const isThis = eq(accounts.email, normaliseEmail(email));
      const [found] = await orm.select(account).from(accounts).where(isThis);
      return found ?? null;
    },

    /** All accounts, oldest first. */
    list: async (): Promise<Account[]> =>
      await orm.select(account).from(accounts).orderBy(asc(accounts.id)),

    ...ownership,

    /**
     * Adds an account; on an empty server it becomes the owner.
     * @throws AppError `validation_failed` for a bad address or password, `conflict` for a known
     * address
     */
    async add(wanted: NewAccount): Promise<Account> {
      const row = await prepareAccount(wanted, clock());
      return db.transaction(async (tx) => {
        const role = (await isEmpty(tx)) ? "owner" : "member";
        return insertAccount(tx, tables, { ...row, role });
      });
    },

    /**
     * Hashes a password now, and gives what makes the member at once, in a transaction.
     * @throws AppError `validation_failed` for a bad address or password; what it gives throws
     * `conflict` for a known address, and `forbidden` on a server without an owner
     */
    async prepareMember(wanted: NewAccount): Promise<(tx: Orm) => Promise<Account>> {
      const row = await prepareAccount(wanted, clock());
      return async (tx) => {
        if (await findOwner(tx, tables)) {
          return insertAccount(tx, tables, { ...row, role: "member" });
        }
        throw new AppError("forbidden", "This server has no owner yet.");
      };
    },

    /** Makes a member. @throws AppError as `prepareMember` and what it gives */
    async addMember(wanted: NewAccount): Promise<Account> {
      return db.transaction(await this.prepareMember(wanted));
    },

    ...createPasswords({ db }),

    /**
     * Removes an account with its keys, and their traces from the database file. Its memories go
     * when the server that holds them sees it in `removed`. With the last one go the invitations.
     * @throws AppError `not_found` for an unknown account, `conflict` for the owner's while others
     * have accounts
     */
    async remove(id: string): Promise<void> {
      await db.transaction(async (tx) => {
        await checkRemovable(tx, tables, id);
        const isThis = eq(accounts.id, id);
        const removed = await tx.delete(accounts).where(isThis).returning({ id: accounts.id });
        if (removed.length === 0) throw unknownAccount();
        await tx.insert(removedAccounts).values({ id });
        if (await isEmpty(tx)) await tx.delete(invitations);
      });
      await db.expunge();
    },

    /** Ids of removed accounts whose memories may still be there. */
    async removed(): Promise<string[]> {
      const rows = await orm.select().from(removedAccounts);
      return rows.map(({ id }) => id);
    },

    /** Notes that nothing of a removed account is left. */
    async forget(id: string): Promise<void> {
      await orm.delete(removedAccounts).where(eq(removedAccounts.id, id));
    },
  };
}
