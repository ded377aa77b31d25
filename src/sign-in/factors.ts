import type { Database } from "../db/database.ts";
import { createOneTimeCodes } from "./one-time-codes.ts";
import { createPasskeys } from "./passkeys.ts";
import { createRecoveryCodes } from "./recovery-codes.ts";

export type Factors = ReturnType<typeof createFactors>;

/** What accounts prove themselves with beside a password. `clock` gives milliseconds since 1970. */
export function createFactors({ db, clock }: { db: Database; clock: () => number }) {
  const passkeys = createPasskeys({ db, clock });
  const oneTimeCodes = createOneTimeCodes({ db, clock });
  const recoveryCodes = createRecoveryCodes({ db });
  const isSetUp = (accountId: string) =>
    passkeys.count(accountId) > 0 || oneTimeCodes.isSetUp(accountId);

  return {
    passkeys,
    oneTimeCodes,
    recoveryCodes,

    /** Whether a password alone does not sign in to the account. */
    isSetUp,

    /** The kinds of second factor that an account has. */
    kinds: (accountId: string): ("passkey" | "code")[] => [
      ...(passkeys.count(accountId) > 0 ? (["passkey"] as const) : []),
      ...(oneTimeCodes.isSetUp(accountId) ? (["code"] as const) : []),
    ],

    /**
     * Takes a code of the account's app, or a recovery code, which is used up by that.
     * @param browser as in `Trier`
     * @returns which of them it was; null for a wrong one
     * @throws AppError as `OneTimeCodes.use`
     */
    useCode(accountId: string, typed: string, browser: string | null): "app" | "recovery" | null {
      if (/^\s*\d{3}\s?\d{3}\s*$/.test(typed)) {
        return oneTimeCodes.use(accountId, typed, browser) ? "app" : null;
      }
      return recoveryCodes.use(accountId, typed) ? "recovery" : null;
    },

    /** New recovery codes for an account that has none, whose second factor was just set up; else null. */
    issueFirstCodes: (accountId: string): string[] | null =>
      recoveryCodes.count(accountId) === 0 ? recoveryCodes.replace(accountId) : null,

    /** Takes the recovery codes from an account that has no second factor any more. */
    tidy(accountId: string): void {
      if (!isSetUp(accountId)) recoveryCodes.remove(accountId);
    },

    /** Takes every second factor from an account, for who has lost them. */
    reset(accountId: string): void {
      passkeys.removeAll(accountId);
      oneTimeCodes.remove(accountId);
      recoveryCodes.remove(accountId);
    },
  };
}
