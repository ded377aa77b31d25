import { and, eq, isNotNull } from "drizzle-orm";
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

  const emailOf = async (id: string): Promise<string> => {
    const { email } = accounts;
    const [found] = await orm.select({ email }).from(accounts).where(eq(accounts.id, id));
    return found?.email ?? "";
  };

  return {
    /** Whether an account has a password. */
    async hasPassword(id: string, tx: Orm = orm): Promise<boolean> {
      const found = await tx
        .select({ id: accounts.id })
        .from(accounts)
        .where(and(eq(accounts.id, id), isNotNull(accounts.passwordHash)));
      return found.length > 0;
    },

    /**
     * A mark that changes with the account's password and reveals nothing about it; null for an account
     * without a password.
     */
    async passwordMark(id: string): Promise<string | null> {
      const { passwordHash } = accounts;
      const [found] = await orm.select({ passwordHash }).from(accounts).where(eq(accounts.id, id));
      return hashPasswordMark(found?.passwordHash ?? null);
    },

    /**
     * Sets an account's password, and returns its mark.
     * @param former mark of the password to replace, null for none; by default any
     * @throws AppError `validation_failed` for a bad password, `not_found` for an unknown account,
     *   `conflict` when the password is no longer the former one
     */
    async setPassword(id: string, password: string, former?: string | null): Promise<string> {
      checkPassword(password, await emailOf(id));
      const passwordHash = await hashPassword(password);
      const isThis = eq(accounts.id, id);
      await transaction(async (tx) => {
        const present = tx.select({ passwordHash: accounts.passwordHash }).from(accounts);
        const [found] = await present.where(isThis);
        if (!found) throw unknownAccount();
        if (former !== undefined && hashPasswordMark(found.passwordHash) !== former) {
          throw new AppError("conflict", "The password was changed elsewhere in the meantime.");
        }
        await tx.update(accounts).set({ passwordHash }).where(isThis);
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
