import { eq } from "drizzle-orm";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { DISABLED } from "./accounts.ts";
import { hashPasswordMark } from "./passwords.ts";
import { createAccountTables } from "./tables.ts";

/**
 * Makes what checks an account in the transaction that gives access to it. What shuts an account, or
 * changes its password, ends the access of before in one transaction: none is left that was given beside it.
 * @returns a function that throws AppError `forbidden` when the account is shut, or its password has
 * another mark than the one that is given
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
    throw new AppError("forbidden", "The password was changed just now: sign in with that one.");
  };
}
