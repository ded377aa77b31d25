import { SQLiteError } from "bun:sqlite";
import { and, asc, eq, isNotNull, isNull, ne, or } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { normaliseEmail, parseEmail } from "./email.ts";
import { hashPassword, matchesPassword } from "./password.ts";
import { accounts, removedAccounts } from "./tables.ts";

/** The address of the owner that a local agent made; nobody can sign in with it. */
export const LOCAL_ADDRESS = "local@localhost";

/** An account without its secrets. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly createdAt: Date;
}

/** What a new account is made of; `password: null` makes one that can't sign in with a password. */
export interface NewAccount {
  readonly email: string;
  readonly password: string | null;
}

export type Accounts = ReturnType<typeof createAccounts>;

const ACCOUNT = {
  id: accounts.id,
  email: accounts.email,
  role: accounts.role,
  createdAt: accounts.createdAt,
};

/** The account that a local agent made. */
const IS_LOCAL = and(eq(accounts.email, LOCAL_ADDRESS), isNull(accounts.passwordHash));

/** The store of accounts. `clock` gives milliseconds since 1970. */
export function createAccounts({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;

  const find = (id: string): Account | null =>
    orm.select(ACCOUNT).from(accounts).where(eq(accounts.id, id)).get() ?? null;

  const findByEmail = (email: string): Account | null =>
    orm
      .select(ACCOUNT)
      .from(accounts)
      .where(eq(accounts.email, normaliseEmail(email)))
      .get() ?? null;

  return {
    find,

    /** Finds an account whatever the case of the address. */
    findByEmail,

    /** The account that administers the server; null on an empty one. */
    findOwner: (): Account | null =>
      orm.select(ACCOUNT).from(accounts).where(eq(accounts.role, "owner")).get() ?? null,

    /** Whether there is an account other than the one that a local agent made. */
    isSetUp: (): boolean =>
      orm
        .select({ id: accounts.id })
        .from(accounts)
        .where(or(ne(accounts.email, LOCAL_ADDRESS), isNotNull(accounts.passwordHash)))
        .limit(1)
        .get() !== undefined,

    /** All accounts, oldest first. */
    list: (): Account[] => orm.select(ACCOUNT).from(accounts).orderBy(asc(accounts.id)).all(),

    /**
     * Adds an account; on an empty server it becomes the owner.
     * @throws AppError `validation_failed` for a bad address or password, `conflict` for a known
     * address
     */
    async add({ email: typed, password }: NewAccount): Promise<Account> {
      const email = parseEmail(typed);
      const passwordHash = password === null ? null : await hashPassword(password);
      const now = clock();
      const id = createId("acc", now);
      return orm.transaction(
        (tx) => {
          const role = tx.select().from(accounts).limit(1).get() ? "member" : "owner";
          const row = { id, email, passwordHash, role, createdAt: new Date(now) } as const;
          try {
            return tx.insert(accounts).values(row).returning(ACCOUNT).get();
          } catch (error) {
            if (!isDuplicate(error)) throw error;
            throw new AppError("conflict", "An account with this e-mail address exists already.", {
              cause: error,
            });
          }
        },
        { behavior: "immediate" },
      );
    },

    /**
     * Makes the owner of a server that has none, who takes over what local agents have saved.
     * @throws AppError `conflict` when the server has an account already, and as `add`
     */
    async setUp({ email: typed, password }: NewAccount): Promise<Account> {
      const email = parseEmail(typed);
      const passwordHash = password === null ? null : await hashPassword(password);
      const now = clock();
      const row = {
        id: createId("acc", now),
        email,
        passwordHash,
        role: "owner",
        createdAt: new Date(now),
      } as const;
      return orm.transaction(
        (tx) => {
          const local = tx
            .update(accounts)
            .set({ email, passwordHash, role: "owner" })
            .where(IS_LOCAL)
            .returning(ACCOUNT)
            .get();
          const isOther = local && ne(accounts.id, local.id);
          if (tx.select(ACCOUNT).from(accounts).where(isOther).limit(1).get()) {
            throw new AppError("conflict", "This server has an owner already: sign in instead.");
          }
          return local ?? tx.insert(accounts).values(row).returning(ACCOUNT).get();
        },
        { behavior: "immediate" },
      );
    },

    /**
     * Gives the owner without a password, whose account a local agent made, an address and a
     * password. For who is at the machine alone: such an owner may have memories.
     * @returns null when there is no such owner
     * @throws AppError as `add`
     */
    async nameLocalOwner({ email: typed, password }: NewAccount): Promise<Account | null> {
      const email = parseEmail(typed);
      const passwordHash = password === null ? null : await hashPassword(password);
      return (
        orm
          .update(accounts)
          .set({ email, passwordHash })
          .where(IS_LOCAL)
          .returning(ACCOUNT)
          .get() ?? null
      );
    },

    /** Whether an account can be signed in to with a password. */
    hasPassword: (id: string): boolean =>
      orm
        .select({ id: accounts.id })
        .from(accounts)
        .where(and(eq(accounts.id, id), isNotNull(accounts.passwordHash)))
        .get() !== undefined,

    /**
     * Differs after each change of an account's password, and tells nothing of it; null for an
     * account without one.
     */
    passwordMark(id: string): string | null {
      const { passwordHash = null } =
        orm
          .select({ passwordHash: accounts.passwordHash })
          .from(accounts)
          .where(eq(accounts.id, id))
          .get() ?? {};
      return passwordHash && hashSecret(passwordHash);
    },

    /**
     * Gives an account another password.
     * @throws AppError `validation_failed` for a bad password, `not_found` for an unknown account
     */
    async setPassword(id: string, password: string): Promise<void> {
      const passwordHash = await hashPassword(password);
      const changed = orm
        .update(accounts)
        .set({ passwordHash })
        .where(eq(accounts.id, id))
        .returning({ id: accounts.id })
        .get();
      if (!changed) throw unknownAccount();
    },

    /** The account that e-mail address and password belong to. Unknown accounts take as long. */
    async verifyPassword(email: string, password: string): Promise<Account | null> {
      const row = orm
        .select({ ...ACCOUNT, passwordHash: accounts.passwordHash })
        .from(accounts)
        .where(eq(accounts.email, normaliseEmail(email)))
        .get();
      const matches = await matchesPassword(password, row?.passwordHash ?? null);
      if (!row || !matches) return null;
      const { passwordHash: _, ...account } = row;
      return account;
    },

    /**
     * Removes an account with its keys, and their traces from the database file. Its memories go
     * when the server that holds them sees it in `removed`.
     * @throws AppError `not_found` for an unknown account
     */
    remove(id: string): void {
      orm.transaction(
        (tx) => {
          const isThis = eq(accounts.id, id);
          if (!tx.delete(accounts).where(isThis).returning({ id: accounts.id }).get()) {
            throw unknownAccount();
          }
          tx.insert(removedAccounts).values({ id }).run();
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

function unknownAccount(): AppError {
  return new AppError("not_found", "No account with this id.");
}

function isDuplicate(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_CONSTRAINT_UNIQUE";
}
