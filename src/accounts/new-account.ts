import { constraintViolation } from "../db/constraint-violation.ts";
import type { Orm } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { returnedRow } from "../db/returned-row.ts";
import { AppError } from "../errors.ts";
import type { Account, NewAccount } from "./account.ts";
import { parseEmail } from "./email.ts";
import { checkPassword } from "./new-password.ts";
import { hashPassword } from "./password.ts";
import type { AccountTables } from "./tables.ts";

/** The row of an account without its role. */
type Prepared = Omit<AccountTables["accounts"]["$inferInsert"], "role">;

/**
 * Prepares the row of a new account. It hashes the password, which takes about 0.1 s.
 * @param now in milliseconds since 1970
 * @throws AppError `validation_failed` for a bad address or password
 */
export async function prepareAccount(
  { email: typed, password }: NewAccount,
  now: number,
): Promise<Prepared> {
  const email = parseEmail(typed);
  if (password !== null) checkPassword(password, email);
  const passwordHash = password === null ? null : await hashPassword(password);
  return { id: createId("acc", now), email, passwordHash, createdAt: new Date(now) };
}

/** Inserts a new account. @throws AppError `conflict` for a known address */
export async function insertAccount(
  tx: Orm,
  { accounts, account }: AccountTables,
  row: Prepared & { role: Account["role"] },
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
