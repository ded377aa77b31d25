import { eq } from "drizzle-orm";
import type { StoreParts } from "../../db/database.ts";
import { createEphemeral, type Ephemeral } from "../../db/ephemeral.ts";
import { createPasskeys } from "../passkeys/passkeys.ts";
import { createSignInTables } from "../tables.ts";
import { createOneTimeCodes } from "./one-time-codes.ts";
import { createRecoveryCodes } from "./recovery-codes.ts";

export type Factors = ReturnType<typeof createFactors>;

/** The second factors of accounts. */
export function createFactors({
  db,
  clock,
  ephemeral = createEphemeral({ db, clock }),
}: StoreParts & { ephemeral?: Ephemeral }) {
  const tables = db.tables(createSignInTables);
  const passkeys = createPasskeys({ db, clock });
  const oneTimeCodes = createOneTimeCodes({ db, clock, ephemeral });
  const recoveryCodes = createRecoveryCodes({ db });
  const isSetUp = async (accountId: string): Promise<boolean> =>
    (await passkeys.count(accountId)) > 0 || (await oneTimeCodes.isSetUp(accountId));

  return {
    passkeys,
    oneTimeCodes,
    recoveryCodes,

    /** Whether signing in to the account takes more than a password. */
    isSetUp,

    kinds: async (accountId: string): Promise<("passkey" | "code")[]> => [
      ...((await passkeys.count(accountId)) > 0 ? (["passkey"] as const) : []),
      ...((await oneTimeCodes.isSetUp(accountId)) ? (["code"] as const) : []),
    ],

    /**
     * Checks a code of the account's app, or uses up a recovery code.
     * @param browser as in `Attempt`
     * @returns the kind of the code; null for a wrong one
     * @throws AppError as `OneTimeCodes.use`
     */
    async useCode(
      accountId: string,
      typed: string,
      browser: string | null,
    ): Promise<"app" | "recovery" | null> {
      if (/^\s*\d{3}\s?\d{3}\s*$/.test(typed)) {
        return (await oneTimeCodes.use(accountId, typed, browser)) ? "app" : null;
      }
      return (await recoveryCodes.use(accountId, typed)) ? "recovery" : null;
    },

    /** Removes all second factors of an account whose person has lost them. */
    reset: (accountId: string): Promise<void> =>
      db.transaction(async (tx) => {
        for (const table of [tables.passkeys, tables.oneTimeCodes, tables.recoveryCodes]) {
          await tx.delete(table).where(eq(table.accountId, accountId));
        }
      }),
  };
}
