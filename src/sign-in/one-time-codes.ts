import { and, eq, isNotNull, isNull } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { isSameSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { createSignInTables } from "./tables.ts";
import { codeOf, createTotpSecret, stepAt } from "./totp.ts";

/** Steps before and after the present one whose code is taken: clocks differ, and typing takes time. */
const TOLERANCE = 1;
/**
 * Wrong codes that an account has before it must wait, and milliseconds until it has all of them
 * again. A thief of the password guesses right in a year with a chance of one in a hundred.
 */
const TRIES = 10;
const PERIOD = 24 * 3_600_000;

export type OneTimeCodes = ReturnType<typeof createOneTimeCodes>;

/** The store of what apps compute codes from. `clock` gives milliseconds since 1970. */
export function createOneTimeCodes({
  db,
  clock,
  ephemeral,
}: {
  db: Database;
  clock: () => number;
  ephemeral: Ephemeral;
}) {
  const { orm } = db;
  const { oneTimeCodes } = db.tables(createSignInTables);
  const byBrowser = ephemeral.limit("codes of a browser", { tries: TRIES, period: PERIOD });
  const isOf = (accountId: string) => eq(oneTimeCodes.accountId, accountId);

  /** Since when the account is asked for codes; null when it is not. */
  const setUpAt = async (accountId: string): Promise<Date | null> => {
    const [row] = await orm
      .select({ confirmedAt: oneTimeCodes.confirmedAt })
      .from(oneTimeCodes)
      .where(isOf(accountId));
    return row?.confirmedAt ?? null;
  };

  /** The secret that waits to be confirmed; null for none. One in use is never shown again. */
  const findUnconfirmed = async (accountId: string): Promise<Buffer | null> => {
    const [row] = await orm
      .select({ secret: oneTimeCodes.secret })
      .from(oneTimeCodes)
      .where(and(isOf(accountId), isNull(oneTimeCodes.confirmedAt)));
    return row?.secret ?? null;
  };

  /** The step whose code this is, among those that may still be used; null for none. */
  const findStep = (secret: Uint8Array, lastStep: number, typed: string): number | null => {
    const code = typed.replaceAll(/\s/g, "");
    const now = stepAt(clock());
    let found: number | null = null;
    for (let step = now - TOLERANCE; step <= now + TOLERANCE; step++) {
      if (isSameSecret(codeOf(secret, step), code) && step > lastStep) found = step;
    }
    return found;
  };

  /** Looks at a code, and notes what came of it. Returns the milliseconds to wait where none is looked at. */
  const tryOut = (accountId: string, code: string, isLimited: boolean): Promise<boolean | number> =>
    db.transaction(async (tx) => {
      const isIt = and(isOf(accountId), isNotNull(oneTimeCodes.confirmedAt));
      const [row] = await tx.select().from(oneTimeCodes).where(isIt);
      if (!row) return false;
      const now = clock();
      const elapsed = Math.max(0, now - row.failedAt.getTime());
      const failures = Math.max(0, row.failures - (elapsed / PERIOD) * TRIES);
      if (isLimited && failures > TRIES - 1) return ((failures - TRIES + 1) / TRIES) * PERIOD;
      const step = findStep(row.secret, row.lastStep, code);
      if (step !== null) await tx.update(oneTimeCodes).set({ lastStep: step }).where(isIt);
      else if (isLimited) {
        const change = { failures: failures + 1, failedAt: new Date(now) };
        await tx.update(oneTimeCodes).set(change).where(isIt);
      }
      return step !== null;
    });

  return {
    /** Whether the account is asked for codes. */
    isSetUp: async (accountId: string): Promise<boolean> => (await setUpAt(accountId)) !== null,

    setUpAt,

    /**
     * Makes a secret that `confirm` puts to use, instead of one that was not confirmed.
     * @throws AppError `conflict` when the account is asked for codes already
     */
    async begin(accountId: string): Promise<void> {
      const secret = Buffer.from(createTotpSecret());
      const row = { secret, confirmedAt: null, lastStep: 0, failures: 0, failedAt: new Date(0) };
      const made = await orm
        .insert(oneTimeCodes)
        .values({ accountId, ...row })
        .onConflictDoUpdate({
          target: oneTimeCodes.accountId,
          set: row,
          setWhere: isNull(oneTimeCodes.confirmedAt),
        })
        .returning({ accountId: oneTimeCodes.accountId });
      if (made.length > 0) return;
      throw new AppError("conflict", "You have an app for codes already: remove it first.");
    },

    findUnconfirmed: (accountId: string): Promise<Uint8Array | null> => findUnconfirmed(accountId),

    /** Puts the secret to use by a first code of it. Returns false when that is wrong. */
    async confirm(accountId: string, code: string): Promise<boolean> {
      const secret = await findUnconfirmed(accountId);
      const lastStep = secret && findStep(secret, 0, code);
      if (secret === null || lastStep === null) return false;
      // Meanwhile another one may have been made, in another window.
      const isIt = and(isOf(accountId), eq(oneTimeCodes.secret, secret));
      const isWaiting = and(isIt, isNull(oneTimeCodes.confirmedAt));
      const confirmed = await orm
        .update(oneTimeCodes)
        .set({ confirmedAt: new Date(clock()), lastStep })
        .where(isWaiting)
        .returning({ accountId: oneTimeCodes.accountId });
      return confirmed.length > 0;
    },

    /**
     * Takes a code, which is used up by that. Returns false for a wrong and for a used one. Wrong ones
     * are counted by account, in the database; a browser that is known at the account has tries of
     * its own, so that a thief of the password can't keep its person out.
     * @param browser as in `Trier`
     * @throws AppError `rate_limited` after too many wrong ones
     */
    async use(accountId: string, code: string, browser: string | null): Promise<boolean> {
      const wait = browser === null ? null : await byBrowser.take(browser);
      if (wait !== null) throw tooManyCodes(wait * 1_000);
      const outcome = await tryOut(accountId, code, browser === null);
      if (typeof outcome === "number") throw tooManyCodes(outcome);
      if (outcome && browser !== null) await byBrowser.giveBack(browser);
      return outcome;
    },

    /** Ends that the account is asked for codes. */
    async remove(accountId: string): Promise<void> {
      await orm.delete(oneTimeCodes).where(isOf(accountId));
    },
  };
}

function tooManyCodes(wait: number): AppError {
  const minutes = Math.ceil(wait / 60_000);
  return new AppError(
    "rate_limited",
    `Too many wrong codes. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}, or use a passkey or a recovery code.`,
    { retryAfter: Math.ceil(wait / 1_000) },
  );
}
