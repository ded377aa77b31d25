import { and, eq, gt } from "drizzle-orm";
import { createAccountCheck } from "../accounts/account-check.ts";
import type { Database, Orm } from "../db/database.ts";
import { hashSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { createSignInTables } from "./tables.ts";

/** Conditions of a sign-in, which may end before a session begins. */
export interface SessionConditions {
  /** The mark of the password that was used or set; null for none. */
  readonly passwordMark?: string | null | undefined;
  /** The secret of the pending sign-in whose second step was done. It is used up. */
  readonly pending?: string | undefined;
}

/**
 * Creates a check of these conditions, for the transaction that begins a session.
 * @returns a function that throws AppError `forbidden` when the account is disabled, or a condition no
 *   longer holds
 */
export function createConditionsCheck({ db, clock }: { db: Database; clock: () => number }) {
  const checkAccount = createAccountCheck(db);
  const { pendingSignIns } = db.tables(createSignInTables);

  return async (
    tx: Orm,
    accountId: string,
    { passwordMark, pending }: SessionConditions,
  ): Promise<void> => {
    await checkAccount(tx, accountId, passwordMark);
    if (pending === undefined) return;
    const isThis = and(
      eq(pendingSignIns.hash, hashSecret(pending)),
      gt(pendingSignIns.expiresAt, new Date(clock())),
    );
    const { hash } = pendingSignIns;
    const used = await tx.delete(pendingSignIns).where(isThis).returning({ hash });
    if (used.length === 0) throw new AppError("forbidden", "This sign-in is over: sign in again.");
  };
}
