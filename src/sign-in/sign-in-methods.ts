import type { Accounts } from "../accounts/accounts.ts";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Factors } from "./factors.ts";
import type { Identities } from "./identities.ts";

/** By what an account can be signed in to. */
interface SignInMethods {
  readonly hasPassword: boolean;
  /** Of the providers that it is connected to. */
  readonly issuers: readonly string[];
  readonly passkeys: number;
  readonly recoveryCodes: number;
}

export type RemoveSignInMethod = ReturnType<typeof createRemoveSignInMethod>;

/**
 * Makes what takes a way to sign in from an account, unless too little would be left: of two that are
 * taken at once, the second one sees that the first one is gone.
 */
export function createRemoveSignInMethod({
  db,
  accounts,
  identities,
  factors: { passkeys, recoveryCodes },
}: {
  db: Database;
  accounts: Pick<Accounts, "hasPassword">;
  identities: Pick<Identities, "issuers">;
  factors: Pick<Factors, "passkeys" | "recoveryCodes">;
}) {
  /**
   * @param take takes it, in the transaction that it is given
   * @param isEnough whether what is left is
   * @param refusal what is said otherwise, by an AppError `conflict`
   */
  return (
    accountId: string,
    take: (tx: Orm) => Promise<void>,
    isEnough: (left: SignInMethods) => boolean,
    refusal: string,
  ): Promise<void> =>
    db.transaction(async (tx) => {
      await take(tx);
      const left = {
        hasPassword: await accounts.hasPassword(accountId, tx),
        issuers: await identities.issuers(accountId, tx),
        passkeys: await passkeys.count(accountId, tx),
        recoveryCodes: await recoveryCodes.count(accountId, tx),
      };
      if (!isEnough(left)) throw new AppError("conflict", refusal);
    });
}
