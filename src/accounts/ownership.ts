import { and, eq, isNotNull, isNull, not, notInArray } from "drizzle-orm";
import { type Orm, returnedRow, type StoreParts } from "../db/database.ts";
import { constraintViolation } from "../db/database-error.ts";
import { createId } from "../db/id.ts";
import { AppError } from "../errors.ts";
import {
  type Account,
  LOCAL_ADDRESS,
  type NewAccount,
  parseEmail,
  unknownAccount,
} from "./account.ts";
import { checkPassword, hashPassword } from "./passwords.ts";
import { spacesOfOne } from "./space-members.ts";
import { type AccountTables, createAccountTables } from "./tables.ts";

type NewRow = Omit<AccountTables["accounts"]["$inferInsert"], "role">;

/**
 * Prepares the row of a new account. It hashes the password, which takes about 0.1 s.
 * @param now in milliseconds since 1970
 * @throws AppError `validation_failed` for a bad address or password
 */
export async function prepareAccount(
  { email: typed, password }: NewAccount,
  now: number,
): Promise<NewRow> {
  const email = parseEmail(typed);
  if (password !== null) checkPassword(password, email);
  const passwordHash = password === null ? null : await hashPassword(password);
  return { id: createId("acc", now), email, passwordHash, createdAt: new Date(now) };
}

/** Inserts a new account. @throws AppError `conflict` for a known address */
export async function insertAccount(
  tx: Orm,
  { accounts, account }: AccountTables,
  row: NewRow & { role: Account["role"] },
): Promise<Account> {
  try {
    return returnedRow(await tx.insert(accounts).values(row).returning(account));
  } catch (error) {
    if (constraintViolation(error) !== "unique") throw error;
    throw new AppError("conflict", "An account with this e-mail address already exists.", {
      cause: error,
    });
  }
}

/** The account that administers the server; null on an empty one. */
export async function findOwner(
  orm: Orm,
  { accounts, account }: AccountTables,
): Promise<Account | null> {
  const [owner] = await orm.select(account).from(accounts).where(eq(accounts.role, "owner"));
  return owner ?? null;
}

/**
 * @returns the spaces without another member, which are removed with the account
 * @throws AppError `conflict` when an account is the owner's and others have accounts, and for the only admin of a space
 *   that has other members
 */
export async function checkRemovable(
  tx: Orm,
  tables: AccountTables,
  id: string,
): Promise<string[]> {
  const spaces = await spacesOfOne(tx, tables, id);
  if ((await findOwner(tx, tables))?.id !== id) return spaces;
  if (!(await hasAny(tx, tables, notInArray(tables.accounts.id, [id, ...spaces])))) return spaces;
  throw new AppError(
    "conflict",
    "The owner's account can't be removed while others have accounts: make another account the owner first, with ctxd user owner EMAIL.",
  );
}

/** Whether there is an account, or one that matches a condition. */
export async function hasAny(
  orm: Orm,
  { accounts }: AccountTables,
  condition?: ReturnType<typeof and>,
): Promise<boolean> {
  const found = await orm.select({ id: accounts.id }).from(accounts).where(condition).limit(1);
  return found.length > 0;
}

/** The part of the accounts' store that creates, names and changes the owner. */
export function createOwnership({ db, clock }: StoreParts) {
  const { orm } = db;
  const tables = db.tables(createAccountTables);
  const { accounts, account } = tables;

  const isOwner = eq(accounts.role, "owner");
  /**
   * An owner whom a local agent created and who has no address yet. Its role can't be claimed by
   * signing up, its address can't be registered.
   */
  const isUnnamed = and(isOwner, eq(accounts.email, LOCAL_ADDRESS), isNull(accounts.passwordHash));
  const isAnother = not(isUnnamed ?? isOwner);

  /** Gives the unnamed owner an address and a password; null if there is no such owner. */
  const nameOwner = async (
    tx: Orm,
    { email, passwordHash }: Awaited<ReturnType<typeof prepareAccount>>,
  ): Promise<Account | null> => {
    const naming = tx.update(accounts).set({ email, passwordHash }).where(isUnnamed);
    const [named] = await naming.returning(account);
    return named ?? null;
  };

  return {
    /** The account that administers the server; null on an empty one. */
    findOwner: (): Promise<Account | null> => findOwner(orm, tables),

    /** Whether there is an account besides the one that a local agent created. */
    isSetUp: (): Promise<boolean> => hasAny(orm, tables, isAnother),

    /**
     * Creates the owner of an empty server for local agents. It has no password and is named later.
     * @throws AppError `conflict` on a server that has accounts but no owner
     */
    addLocalOwner: (): Promise<Account> =>
      db.transaction(async (tx) => {
        const owner = await findOwner(tx, tables);
        if (owner) return owner;
        if (await hasAny(tx, tables)) {
          throw new AppError(
            "conflict",
            "This server has accounts but no owner: choose an owner with ctxd user owner EMAIL.",
          );
        }
        const now = clock();
        return insertAccount(tx, tables, {
          id: createId("acc", now),
          email: LOCAL_ADDRESS,
          passwordHash: null,
          role: "owner",
          createdAt: new Date(now),
        });
      }),

    /**
     * Creates the owner, who takes over the memories that local agents have saved.
     * @throws AppError `conflict` when the server already has an account, `validation_failed` for a bad
     *   address or password
     */
    async setUp(wanted: NewAccount): Promise<Account> {
      const row = await prepareAccount(wanted, clock());
      return db.transaction(async (tx) => {
        if (await hasAny(tx, tables, isAnother)) {
          throw new AppError("conflict", "This server already has an owner: sign in instead.");
        }
        return (await nameOwner(tx, row)) ?? insertAccount(tx, tables, { ...row, role: "owner" });
      });
    },

    /**
     * Gives an address and a password to the owner whom a local agent created. Only people at the
     * machine itself may do this, since that owner may have memories.
     * @returns null when there is no such owner
     * @throws AppError as `setUp`
     */
    nameLocalOwner: async (wanted: NewAccount): Promise<Account | null> =>
      nameOwner(orm, await prepareAccount(wanted, clock())),

    /**
     * Makes an account the owner, and the former owner a member.
     * @returns the former owner; null without one
     * @throws AppError `not_found` for an unknown account, `conflict` for a disabled one
     */
    handOver: (id: string): Promise<Account | null> =>
      db.transaction(async (tx) => {
        const isThis = eq(accounts.id, id);
        if (await hasAny(tx, tables, and(isThis, isNotNull(accounts.disabledAt)))) {
          throw new AppError("conflict", "This account is disabled: enable it first.");
        }
        const former = await findOwner(tx, tables);
        await tx.update(accounts).set({ role: "member" }).where(isOwner);
        const next = tx.update(accounts).set({ role: "owner" }).where(isThis);
        if ((await next.returning({ id: accounts.id })).length > 0) return former;
        throw unknownAccount();
      }),

    /**
     * The check of `remove`, before a person is asked.
     * @returns the ids of the spaces that go too
     * @throws AppError as `remove`
     */
    checkRemovable: (id: string): Promise<string[]> => checkRemovable(orm, tables, id),
  };
}
