import type { Account, Accounts } from "../accounts/accounts.ts";
import { normaliseEmail } from "../accounts/email.ts";
import { AppError } from "../errors.ts";
import { createRateLimit } from "../rate-limit.ts";
import type { Hashing } from "./hashing.ts";

const MINUTE = 60_000;
/** Characters of an address that tries are counted by: no account's is longer, and forms may be. */
const MAX_COUNTED = 254;
export type SignIn = ReturnType<typeof createSignIn>;

/**
 * Signs people in by e-mail address and password. Failed tries are counted by where they come from
 * and by account, known or not, so that no answer tells which accounts exist.
 */
export function createSignIn({
  accounts,
  hashing,
  clock,
  rateLimit,
}: {
  accounts: Pick<Accounts, "verifyPassword">;
  hashing: Hashing;
  clock: () => number;
  /** Whether tries are counted at all. */
  rateLimit: boolean;
}) {
  const byAddress = createRateLimit({ tries: 10, period: 15 * MINUTE, clock });
  const byAccount = createRateLimit({ tries: 30, period: 15 * MINUTE, clock });

  return {
    /**
     * The account that address and password are of, or null when one of them is wrong.
     * @param address where the request comes from
     * @throws AppError `rate_limited`
     */
    async check(
      { email, password }: { email: string; password: string },
      address: string,
    ): Promise<Account | null> {
      const account = normaliseEmail(email).slice(0, MAX_COUNTED);
      if (rateLimit) {
        const wait = byAddress.take(address) ?? byAccount.take(account);
        if (wait !== null) throw tooMany(wait);
      }
      const found = await hashing(() => accounts.verifyPassword(email, password));
      if (!found) return null;
      byAddress.giveBack(address);
      byAccount.giveBack(account);
      return found;
    },
  };
}

/** What is said to whom has no try left. @param retryAfter in seconds */
export function tooMany(retryAfter: number): AppError {
  const minutes = Math.ceil(retryAfter / 60);
  return new AppError(
    "rate_limited",
    `Too many tries. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}.`,
    { retryAfter },
  );
}
