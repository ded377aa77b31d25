import { and, eq, isNotNull } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import type { Account } from "./account.ts";
import { normaliseEmail } from "./email.ts";
import { checkPassword } from "./new-password.ts";
import { hashPassword, matchesPassword } from "./password.ts";
import { createAccountTables } from "./tables.ts";
import { unknownAccount } from "./unknown-account.ts";

/** An account whose password somebody has shown. */
export interface Verified extends Account {
  /** As in `passwordMark`: by it one can tell that the password is still the same. */
  readonly passwordMark: string;
}

/** The mark of a stored password. */
export function hashPasswordMark(passwordHash: string | null): string | null {
  return passwordHash ? hashSecret(passwordHash) : null;
}

/** The passwords of accounts: the part of the accounts' store that sets and checks them. */
export function createPasswords({ db: { orm, tables, transaction } }: { db: Database }) {
  const { accounts, account } = tables(createAccountTables);

  const emailOf = async (id: string): Promise<string> => {
    const { email } = accounts;
    const [found] = await orm.select({ email }).from(accounts).where(eq(accounts.id, id));
    return found?.email ?? "";
  };

  return {
    /** Whether an account can be signed in to with a password. */
    async hasPassword(id: string, tx: Orm = orm): Promise<boolean> {
      const found = await tx
        .select({ id: accounts.id })
        .from(accounts)
        .where(and(eq(accounts.id, id), isNotNull(accounts.passwordHash)));
      return found.length > 0;
    },

    /**
     * Differs after each change of an account's password, and tells nothing of it; null for an
     * account without one.
     */
    async passwordMark(id: string): Promise<string | null> {
      const { passwordHash } = accounts;
      const [found] = await orm.select({ passwordHash }).from(accounts).where(eq(accounts.id, id));
      return hashPasswordMark(found?.passwordHash ?? null);
    },

    /**
     * Gives an account another password, and returns its mark.
     * @param former mark of the password whose place it takes, null for none; any by default
     * @throws AppError `validation_failed` for a bad password, `not_found` for an unknown account,
     * `conflict` where there is another one than the former meanwhile
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
          throw new AppError("conflict", "The password was changed just now, somewhere else.");
        }
        await tx.update(accounts).set({ passwordHash }).where(isThis);
      });
      return hashSecret(passwordHash);
    },

    /** Takes the password from an account, which signs in by other means. */
    async removePassword(id: string, tx: Orm = orm): Promise<void> {
      await tx.update(accounts).set({ passwordHash: null }).where(eq(accounts.id, id));
    },

    /** The account that e-mail address and password belong to. Unknown accounts take as long. */
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
