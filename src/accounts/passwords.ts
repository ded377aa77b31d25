import { eq } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { hashSecret } from "../db/id.ts";
import { AppError } from "../errors.ts";
import { type Account, normaliseEmail, unknownAccount } from "./account.ts";
import { checkPassword, hashPassword, matchesPassword } from "./password.ts";
import { createAccountTables } from "./tables.ts";

/** An account whose password was verified. */
export interface Verified extends Account {
  /** See `passwordMark`: shows whether the password is still the same. */
  readonly passwordMark: string;
}

/** The mark of a stored password. */
export function hashPasswordMark(passwordHash: string | null): string | null {
  return passwordHash ? hashSecret(passwordHash) : null;
}

/** The part of the accounts' store that sets and checks passwords. */
export function createPasswords({ db: { orm, tables, transaction } }: { db: Database }) {
  const { accounts, account } = tables(createAccountTables);

  const find = async (id: string, tx: Orm = orm) => {
    const { email, passwordHash } = accounts;
    const found = tx.select({ email, passwordHash }).from(accounts);
    return (await found.where(eq(accounts.id, id)))[0];
  };

  return {
    /** Whether an account has a password. */
    hasPassword: async (id: string, tx: Orm = orm): Promise<boolean> =>
      typeof (await find(id, tx))?.passwordHash === "string",

    /**
     * A mark that changes with the account's password and reveals nothing about it; null for an account
     * without a password.
     */
    passwordMark: async (id: string): Promise<string | null> =>
      hashPasswordMark((await find(id))?.passwordHash ?? null),

    /**
     * Sets an account's password, and returns its mark.
     * @param former mark of the password to replace, null for none; by default any
     * @throws AppError `validation_failed` for a bad password, `not_found` for an unknown account,
     *   `conflict` when the password is no longer the former one
     */
    async setPassword(id: string, password: string, former?: string | null): Promise<string> {
      checkPassword(password, (await find(id))?.email ?? "");
      const passwordHash = await hashPassword(password);
      await transaction(async (tx) => {
        const found = await find(id, tx);
        if (!found) throw unknownAccount();
        if (former !== undefined && hashPasswordMark(found.passwordHash) !== former) {
          throw new AppError("conflict", "The password was changed elsewhere in the meantime.");
        }
        await tx.update(accounts).set({ passwordHash }).where(eq(accounts.id, id));
      });
      return hashSecret(passwordHash);
    },

    /** Removes the password of an account that has other ways to sign in. */
    async removePassword(id: string, tx: Orm = orm): Promise<void> {
      await tx.update(accounts).set({ passwordHash: null }).where(eq(accounts.id, id));
    },

    /** The account with this e-mail address and password. Unknown accounts take the same time. */
    async verifyPassword(email: string, password: string): Promise<Verified | null> {
      const [row] = await orm
        .select({ ...account, passwordHash: accounts.passwordHash })
        .from(accounts)
        .where(eq(accounts.email, normaliseEmail(email)));
      const matches = await matchesPassword(password, row?.passwordHash ?? null);
      if (!row?.passwordHash || !matches) return null;
      const { passwordHash, ...found } = row;
      return { ...found, passwordMark: hashSecret(passwordHash) };
    },
  };
}
