import type { Accounts } from "../accounts/accounts.ts";
import type { Database, Orm } from "../db/database.ts";
import { AppError } from "../errors.ts";
import type { Provider } from "./providers/provider.ts";
import type { Identities } from "./providers/provider-sign-in.ts";
import type { Factors } from "./second-step/factors.ts";

interface SignInMethods {
  readonly hasPassword: boolean;
  readonly issuers: readonly string[];
  readonly passkeys: number;
  readonly recoveryCodes: number;
}

/** Whether a person can still sign in, where passwords may be switched off and providers may be gone. */
export function canSignIn(
  { hasPassword, issuers, passkeys }: Omit<SignInMethods, "recoveryCodes">,
  { passwords, providers }: { passwords: boolean; providers: readonly Pick<Provider, "issuer">[] },
): boolean {
  const isLinked = providers.some(({ issuer }) => issuers.includes(issuer));
  return (passwords && hasPassword) || isLinked || passkeys > 0;
}

/**
 * Creates the function that removes a way to sign in, unless too little would remain. Of two
 * simultaneous removals, the second sees that the first is done.
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
   * @param take removes it in the given transaction
   * @param isEnough whether the remaining ways are enough
   * @param refusal message of the AppError `conflict` otherwise
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
