import { and, asc, eq, inArray, isNull, notLike, type SQL, sql } from "drizzle-orm";
import type { Database, Orm, StoreParts } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { type Account, type NewAccount, normaliseEmail, unknownAccount } from "./account.ts";
import {
  checkRemovable,
  createOwnership,
  findOwner,
  hasAny,
  insertAccount,
  prepareAccount,
} from "./ownership.ts";
import { createPasswords, hashPasswordMark } from "./passwords.ts";
import { spaceAddress } from "./space.ts";
import { createAccountTables } from "./tables.ts";

/** The message for right credentials of a disabled account. */
export const DISABLED = "This account is disabled: ask the owner of the server.";

export type Accounts = ReturnType<typeof createAccounts>;

/** The store of accounts. */
export function createAccounts({ db, clock }: StoreParts) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, account, invitations, removedAccounts } = tables;
  const ownership = createOwnership({ db, clock });
  const isPerson = notLike(accounts.email, spaceAddress("%"));

  const findWhere = async (condition: SQL): Promise<Account | null> => {
    const [found] = await orm.select(account).from(accounts).where(condition);
    return found ?? null;
  };

  const admitted = orm
    .select(account)
    .from(accounts)
    .where(and(eq(accounts.id, sql.placeholder("id")), isNull(accounts.disabledAt)))
    .prepare();

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
    find: (id: string): Promise<Account | null> => findWhere(eq(accounts.id, id)),

    /** The account if it is enabled. Every request checks this: of a session, a key or a token. */
    async admit(id: string): Promise<Account | null> {
      const [found] = await admitted.execute({ id });
      return found ?? null;
    },

    /**
     * Disables an account until `enable`. Its keys stop working, its sessions and the access of its
     * apps end, and its memories stay.
     * @throws AppError `forbidden` for the owner, `not_found` for an unknown account
     */
    disable: (id: string): Promise<void> => setDisabled(id, new Date(clock())),

    /** Enables an account again. @throws AppError as `disable` */
    enable: (id: string): Promise<void> => setDisabled(id, null),

    /** Finds an account. The case of the address does not matter. */
    findByEmail: (email: string): Promise<Account | null> =>
      findWhere(eq(accounts.email, normaliseEmail(email))),

    /** All accounts of people, oldest first. */
    list: async (): Promise<Account[]> =>
      await orm.select(account).from(accounts).where(isPerson).orderBy(asc(accounts.id)),

    ...ownership,

    /**
     * Adds an account. The first one becomes the owner.
     * @throws AppError `validation_failed` for a bad address or password, `conflict` for a known address
     */
    async add(wanted: NewAccount): Promise<Account> {
      const row = await prepareAccount(wanted, clock());
      return db.transaction(async (tx) => {
        const role = (await hasAny(tx, tables)) ? "member" : "owner";
        return insertAccount(tx, tables, { ...row, role });
      });
    },

    /**
     * Hashes the password of a new member, and returns a function that adds the member in a transaction.
     * @throws AppError `validation_failed` for a bad address or password. The returned function throws
     *   `conflict` for a known address, and `forbidden` on a server without an owner.
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

    /** Adds a member. @throws AppError as `prepareMember` and its result */
    async addMember(wanted: NewAccount): Promise<Account> {
      return db.transaction(await this.prepareMember(wanted));
    },

    ...createPasswords({ db }),

    /**
     * Removes an account with its keys, and overwrites them in the database file. The server that holds its memories
     * removes them when it reads `removed`. Spaces without another member go with it. Removing the last account also removes
     * the invitations.
     * @throws AppError `not_found` for an unknown account, `conflict` for the owner's while there are others, and for the
     *   only admin of a space that has other members
     */
    async remove(id: string): Promise<void> {
      await db.transaction(async (tx) => {
        const areThese = inArray(accounts.id, [id, ...(await checkRemovable(tx, tables, id))]);
        const removed = await tx.delete(accounts).where(areThese).returning({ id: accounts.id });
        if (removed.every((one) => one.id !== id)) throw unknownAccount();
        await tx.insert(removedAccounts).values(removed);
        if (!(await hasAny(tx, tables))) await tx.delete(invitations);
      });
      await db.expunge();
    },

    /** Ids of removed accounts that may still have memories. */
    removed: async (): Promise<string[]> =>
      (await orm.select().from(removedAccounts)).map(({ id }) => id),

    /** Forgets a removed account, after its memories were removed. */
    async forget(id: string): Promise<void> {
      await orm.delete(removedAccounts).where(eq(removedAccounts.id, id));
    },
  };
}

/**
 * Creates a check of an account, for the transaction that gives access. Disabling an account or changing its password
 * ends all earlier access in one transaction. The check prevents new access from being given at the same time.
 * @returns a function that throws AppError `forbidden` for a disabled account, or when the mark of its password is not
 *   the given one
 */
export function createAccountCheck({ tables }: Pick<Database, "tables">) {
  const { accounts } = tables(createAccountTables);
  const { passwordHash, disabledAt } = accounts;

  return async (tx: Orm, accountId: string, passwordMark?: string | null): Promise<void> => {
    const found = tx.select({ passwordHash, disabledAt }).from(accounts);
    const [account] = await found.where(eq(accounts.id, accountId));
    if (!account || account.disabledAt !== null) throw new AppError("forbidden", DISABLED);
    if (passwordMark === undefined) return;
    if (hashPasswordMark(account.passwordHash) === passwordMark) return;
    throw new AppError("forbidden", "The password was changed: sign in with the new one.");
  };
}

/**
 * The account of local agents: the owner's, so that a person's agents and dashboard share their
 * memories. An empty server gets an owner without a password.
 * @throws AppError `conflict` on a server that has accounts but no owner
 */
export async function findLocalOwner(
  accounts: Pick<Accounts, "findOwner" | "addLocalOwner">,
): Promise<Account> {
  return (await accounts.findOwner()) ?? (await accounts.addLocalOwner());
}
