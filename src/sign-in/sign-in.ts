import { normaliseEmail } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import type { Verified } from "../accounts/passwords.ts";
import type { Ephemeral, Tries } from "../db/ephemeral.ts";
import { AppError } from "../errors.ts";
import { siteOf } from "../timing/rate-limit.ts";

const PERIOD = 15 * 60_000;
/** Fewer than the keys that one server remembers. */
const PLACES = 1 << 14;
/** Characters of an address that tries are counted by. No account's address is longer; typed ones may be. */
const MAX_COUNTED = 254;

/** The origin of an attempt. */
interface Attempt {
  /** The client's address, by `clientAddress`. */
  readonly address: string;
  /** The name of a browser that is known at this account, by `Devices` or a session; null for others. */
  readonly browser: string | null;
}

export type SignIn = ReturnType<typeof createSignIn>;

/**
 * Signs people in by e-mail address and password. Failed attempts are counted per client address and
 * per account, whether the account exists or not, so that no answer reveals which accounts exist. A
 * browser that is known at the account has tries of its own: wrong tries by others do not lock it out.
 */
export function createSignIn({
  accounts,
  hashing,
  ephemeral,
  passwords = true,
}: {
  accounts: Pick<Accounts, "verifyPassword">;
  hashing: Hashing;
  ephemeral: Pick<Ephemeral, "limit">;
  /** Whether passwords are accepted. */
  passwords?: boolean;
}) {
  const limitOf = (by: string, tries: number, places?: number) =>
    ephemeral.limit(`passwords by ${by}`, { tries, period: PERIOD, ...(places && { places }) });
  const byAddress = limitOf("address", 10);
  const byNetwork = limitOf("network", 60);
  // A flood of invented accounts does not push the counts of real ones out of memory.
  const byAccount = limitOf("account", 30, PLACES);
  const byBrowser = limitOf("browser", 10);

  const countersOf = (email: string, { address, browser }: Attempt): Counter[] => {
    if (browser !== null) return [[byBrowser, browser]];
    const account = normaliseEmail(email).slice(0, MAX_COUNTED);
    const network = siteOf(address);
    return [
      [byAddress, address],
      ...(network === null ? [] : [[byNetwork, network] satisfies Counter]),
      [byAccount, account],
    ];
  };

  return {
    /**
     * The account with this address and password; null if one of them is wrong.
     * @throws AppError `rate_limited`, and `forbidden` where passwords are switched off
     */
    async check(
      { email, password }: { email: string; password: string },
      trier: Attempt,
    ): Promise<Verified | null> {
      if (!passwords) throw noPasswords();
      const counters = countersOf(email, trier);
      await takeAll(counters);
      try {
        const line = trier.browser === null ? "anyone" : "known";
        const found = await hashing(() => accounts.verifyPassword(email, password), line);
        if (found) await giveBack(counters);
        return found;
      } catch (error) {
        // The password was not checked.
        await giveBack(counters);
        throw error;
      }
    },
  };
}

type Counter = [tries: Tries, key: string];

/** Takes a try from each counter, or from none: a refused attempt uses up no tries. */
async function takeAll(counters: readonly Counter[]): Promise<void> {
  const taken: Counter[] = [];
  for (const counter of counters) {
    const [tries, key] = counter;
    const wait = await tries.take(key);
    if (wait !== null) {
      await giveBack(taken);
      throw tooMany(wait);
    }
    taken.push(counter);
  }
}

async function giveBack(counters: readonly Counter[]): Promise<void> {
  for (const [tries, key] of counters) await tries.giveBack(key);
}

/** The error for a password where passwords are switched off. */
export function noPasswords(): AppError {
  return new AppError("forbidden", "Passwords are switched off on this server.");
}

/**
 * The error for an attempt without tries left.
 * @param retryAfter in seconds
 * @param alternative the end of the message
 */
export function tooMany(retryAfter: number, what = "tries", alternative = ""): AppError {
  const minutes = Math.ceil(retryAfter / 60);
  const plural = minutes === 1 ? "" : "s";
  return new AppError(
    "rate_limited",
    `Too many ${what}. Try again in ${minutes} minute${plural}${alternative}.`,
    { retryAfter },
  );
}

/** Passwords that are hashed at once. Each takes 64 MiB and one core; others wait. */
const HASHES_AT_ONCE = 2;
/** Waiting tasks per queue. */
const MAX_WAITING = 50;

/** The two queues: browsers that have signed in before have one of their own. */
type Line = "known" | "anyone";

/**
 * Hashes a password when it is its turn.
 * @param line the queue; by default `anyone`
 * @throws AppError `rate_limited` when too many wait in that queue
 */
export type Hashing = <T>(task: () => Promise<T>, line?: Line) => Promise<T>;

/** Limits the hashing of passwords. The two queues take turns: a crowd in one does not block the other. */
export function createHashing(): Hashing {
  let running = 0;
  const waiting: Record<Line, (() => void)[]> = { known: [], anyone: [] };
  let turn: Line = "known";

  const next = () => {
    const other = turn === "known" ? "anyone" : "known";
    const chosen = waiting[turn].shift() ?? waiting[other].shift();
    turn = other;
    return chosen;
  };

  return async <T>(task: () => Promise<T>, line: Line = "anyone"): Promise<T> => {
    if (running >= HASHES_AT_ONCE) {
      if (waiting[line].length >= MAX_WAITING) {
        throw new AppError("rate_limited", "Too many people sign in at once. Try again.", {
          retryAfter: 5,
        });
      }
      await new Promise<void>((resolve) => waiting[line].push(resolve));
    } else {
      running++;
    }
    try {
      return await task();
    } finally {
      // The task that waits longest is next.
      const release = next();
      if (release) release();
      else running--;
    }
  };
}

/** The answer to a rate-limited form. Throws any other error again. */
export function rateLimitedAnswer(error: unknown) {
  if (!(error instanceof AppError) || error.code !== "rate_limited") throw error;
  const { message, status, retryAfter } = error;
  return { message, status, headers: { "retry-after": `${retryAfter}` } };
}
