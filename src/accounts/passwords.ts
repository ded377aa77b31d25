import { and, eq, isNotNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import type { Account } from "./accounts.ts";
import { normaliseEmail } from "./email.ts";
import { checkPassword } from "./new-password.ts";
import { hashPassword, matchesPassword } from "./password.ts";
import { ACCOUNT, accounts } from "./tables.ts";
import { unknownAccount } from "./unknown-account.ts";

/** The passwords of accounts: the part of the accounts' store that sets and checks them. */
export function createPasswords({ db: { orm } }: { db: Database }) {
  const emailOf = (id: string): string =>
    orm.select(ACCOUNT).from(accounts).where(eq(accounts.id, id)).get()?.email ?? "";

  return {
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
      checkPassword(password, emailOf(id));
      const passwordHash = await hashPassword(password);
      const changed = orm
        .update(accounts)
        .set({ passwordHash })
        .where(eq(accounts.id, id))
        .returning({ id: accounts.id })
        .get();
      if (!changed) throw unknownAccount();
    },

    /** Takes the password from an account, which signs in by other means. */
    removePassword: (id: string): void =>
      void orm.update(accounts).set({ passwordHash: null }).where(eq(accounts.id, id)).run(),

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
  };
}
