import type { Accounts } from "../accounts/accounts.ts";
import { normaliseEmail } from "../accounts/email.ts";
import { AppError } from "../errors.ts";
import { createRateLimit } from "../rate-limit.ts";
import type { Sessions } from "./sessions.ts";

const MINUTE = 60_000;
/** Hashing a password takes 64 MiB and a core: so many at once, the others wait. */
const HASHES_AT_ONCE = 2;
const MAX_WAITING = 50;

export type SignIn = ReturnType<typeof createSignIn>;

/**
 * Signs people in by e-mail address and password. Failed tries are counted by where they come from
 * and by account, known or not, so that no answer tells which accounts exist.
 */
export function createSignIn({
  accounts,
  sessions,
  clock,
  rateLimit,
}: {
  accounts: Pick<Accounts, "verifyPassword">;
  sessions: Sessions;
  clock: () => number;
  /** Whether tries are counted at all. */
  rateLimit: boolean;
}) {
  const byAddress = createRateLimit({ tries: 10, period: 15 * MINUTE, clock });
  const byAccount = createRateLimit({ tries: 30, period: 15 * MINUTE, clock });
  const oneOfFew = createQueue(HASHES_AT_ONCE, MAX_WAITING);

  return {
    /**
     * Begins a session. Returns its secret, or null when address or password is wrong.
     * @param address where the request comes from
     * @throws AppError `rate_limited`
     */
    async signIn(
      { email, password }: { email: string; password: string },
      address: string,
    ): Promise<string | null> {
      const account = normaliseEmail(email);
      if (rateLimit) {
        const wait = byAddress.take(address) ?? byAccount.take(account);
        if (wait !== null) throw tooMany(wait);
      }
      const found = await oneOfFew(() => accounts.verifyPassword(email, password));
      if (!found) return null;
      byAddress.giveBack(address);
      byAccount.giveBack(account);
      return sessions.begin(found.id);
    },
  };
}

function tooMany(retryAfter: number): AppError {
  const minutes = Math.ceil(retryAfter / 60);
  return new AppError(
    "rate_limited",
    `Too many tries. Try again in ${minutes} minute${minutes === 1 ? "" : "s"}.`,
    { retryAfter },
  );
}

/** Runs at most `places` tasks at once and lets `maxWaiting` wait; more are refused. */
function createQueue(places: number, maxWaiting: number) {
  let running = 0;
  const waiting: (() => void)[] = [];
  return async <T>(task: () => Promise<T>): Promise<T> => {
    if (running >= places) {
      if (waiting.length >= maxWaiting) {
        throw new AppError("rate_limited", "Too many people sign in at once. Try again.", {
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      // The place goes to who waits longest.
      const next = waiting.shift();
      if (next) next();
      else running--;
    }
  };
}
