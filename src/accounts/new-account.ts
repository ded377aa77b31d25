import { SQLiteError } from "bun:sqlite";
import type { Database } from "../db/database.ts";
import { createId } from "../db/id.ts";
import { AppError } from "../errors.ts";
import type { Account, NewAccount } from "./accounts.ts";
import { parseEmail } from "./email.ts";
import { checkPassword } from "./new-password.ts";
import { hashPassword } from "./password.ts";
import { ACCOUNT, accounts } from "./tables.ts";

/** All of an account's row but its role. */
type Prepared = Omit<typeof accounts.$inferInsert, "role">;

/**
 * What is to be written for a new account. Hashing its password takes a while.
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

/** Writes a new account. @throws AppError `conflict` for a known address */
export function insertAccount(
  { orm }: Database,
  row: Prepared & { role: Account["role"] },
): Account {
  try {
    return orm.insert(accounts).values(row).returning(ACCOUNT).get();
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw new AppError("conflict", "An account with this e-mail address exists already.", {
      cause: error,
    });
  }
}

function isDuplicate(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_CONSTRAINT_UNIQUE";
}
