import { eq } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { DISABLED } from "./accounts.ts";
import { hashPasswordMark } from "./passwords.ts";
import { createAccountTables } from "./tables.ts";

/**
 * Creates a check of an account, for the transaction that gives access. Disabling an account or
 * changing its password ends all earlier access in one transaction. The check prevents new access from
 * being given at the same time.
 * @returns a function that throws AppError `forbidden` for a disabled account, or when the mark of its
 *   password is not the given one
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
    throw new AppError("forbidden", "The password was was changed: sign in with the new one.");
  };
}
