import { and, asc, eq, isNull, sql } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { normaliseEmail } from "./email.ts";
import { insertAccount, prepareAccount } from "./new-account.ts";
import { createOwnership } from "./ownership.ts";
import { createPasswords } from "./passwords.ts";
import { ACCOUNT, accounts, invitations, removedAccounts } from "./tables.ts";
import { unknownAccount } from "./unknown-account.ts";

/** What is said to whom has the right credentials of an account that is shut. */
export const DISABLED = "This account is disabled: ask the owner of the server.";

/** An account without its secrets. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly createdAt: Date;
  /** Since when nobody can use it; null for an account that can be used. */
  readonly disabledAt: Date | null;
}

/** What a new account is made of; `password: null` makes one that can't sign in with a password. */
export interface NewAccount {
  readonly email: string;
  readonly password: string | null;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** The store of accounts. `clock` gives milliseconds since 1970. */
export function createAccounts({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const ownership = createOwnership({ db, clock });

  const find = (id: string): Account | null =>
    orm.select(ACCOUNT).from(accounts).where(eq(accounts.id, id)).get() ?? null;

  const findByEmail = (email: string): Account | null =>
    orm
      .select(ACCOUNT)
      .from(accounts)
      .where(eq(accounts.email, normaliseEmail(email)))
      .get() ?? null;

  const admitted = orm
    .select(ACCOUNT)
    .from(accounts)
    .where(and(eq(accounts.id, sql.placeholder("id")), isNull(accounts.disabledAt)))
    .prepare();

  const setDisabled = (id: string, disabledAt: Date | null): void => {
    const isMember = and(eq(accounts.id, id), eq(accounts.role, "member"));
    const changed = orm
      .update(accounts)
      .set({ disabledAt })
      .where(isMember)
      .returning(ACCOUNT)
      .get();
    if (changed) return;
    if (!find(id)) throw unknownAccount();
    throw new AppError("forbidden", "The owner of the server can't be disabled.");
  };

  return {
    find,

    /**
     * The account, if it may be used now. Every way in asks this, on every request: what is not
     * admitted here has neither session, key nor token, in no process.
     */
    admit: (id: string): Account | null => admitted.get({ id }) ?? null,

    /**
     * Shuts an account until it is enabled: its keys rest, its sessions and the access of its apps
     * end, its memories stay.
     * @throws AppError `forbidden` for the owner, `not_found` for an unknown account
     */
    disable: (id: string): void => setDisabled(id, new Date(clock())),

    /** Opens an account again. @throws AppError as `disable` */
    enable: (id: string): void => setDisabled(id, null),

    /** Finds an account whatever the case of the address. */
    findByEmail,

    /** All accounts, oldest first. */
    list: (): Account[] => orm.select(ACCOUNT).from(accounts).orderBy(asc(accounts.id)).all(),

    ...ownership,

    /**
     * Adds an account; on an empty server it becomes the owner.
     * @throws AppError `validation_failed` for a bad address or password, `conflict` for a known
     * address
     */
    async add(wanted: NewAccount): Promise<Account> {
      const row = await prepareAccount(wanted, clock());
      return orm.transaction(
        (tx) => {
          const isFirst = tx.select(ACCOUNT).from(accounts).limit(1).get() === undefined;
          return insertAccount(db, { ...row, role: isFirst ? "owner" : "member" });
        },
        { behavior: "immediate" },
      );
    },

    /**
     * Hashes a password now, and gives what makes the member at once: alone, or in a transaction.
     * @throws AppError `validation_failed` for a bad address or password; what it gives throws
     * `conflict` for a known address, and `forbidden` on a server without an owner
     */
    async prepareMember(wanted: NewAccount): Promise<() => Account> {
      const row = await prepareAccount(wanted, clock());
      return () =>
        orm.transaction(
          () => {
            if (ownership.findOwner()) return insertAccount(db, { ...row, role: "member" });
            throw new AppError("forbidden", "This server has no owner yet.");
          },
          { behavior: "immediate" },
        );
    },

    ...createPasswords({ db }),

    /**
     * Removes an account with its keys, and their traces from the database file. Its memories go
     * when the server that holds them sees it in `removed`. With the last one go the invitations.
     * @throws AppError `not_found` for an unknown account, `conflict` for the owner's while others
     * have accounts
     */
    remove(id: string): void {
      orm.transaction(
        (tx) => {
          ownership.checkRemovable(id);
          const isThis = eq(accounts.id, id);
          if (!tx.delete(accounts).where(isThis).returning({ id: accounts.id }).get()) {
            throw unknownAccount();
          }
          tx.insert(removedAccounts).values({ id }).run();
          if (!tx.select(ACCOUNT).from(accounts).limit(1).get()) tx.delete(invitations).run();
        },
        { behavior: "immediate" },
      );
      db.truncateLog();
    },

    /** Ids of removed accounts whose memories may still be there. */
    removed: (): string[] =>
      orm
        .select()
        .from(removedAccounts)
        .all()
        .map(({ id }) => id),

    /** Notes that nothing of a removed account is left. */
    forget: (id: string): void =>
      void orm.delete(removedAccounts).where(eq(removedAccounts.id, id)).run(),
  };
}
