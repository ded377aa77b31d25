import { AppError } from "../errors.ts";
import type { Log as Lines } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { withTimeLimit } from "../time-limit.ts";
import { removeLinked } from "./links.ts";
import type { Log } from "./log/log.ts";
import type { OpenTable } from "./pooled-table.ts";
import type { Store } from "./store.ts";

/** When what has expired is looked for, in milliseconds. It is in no answer before that either. */
export const EXPIRY = {
  every: 5_000,
  /** A clock that goes ahead by so much at once may be wrong: */
  jump: 60_000,
  /** then nothing is forgotten for so long, for the clock may be set right. */
  restAfterJump: 20_000,
  /** What failed is tried again after this long. */
  retryAfter: 30_000,
};
export type Expiry = typeof EXPIRY;

/** Accounts that are asked for at once, and memories that one commit forgets. */
const ACCOUNTS = 16;
const MEMORIES = 500;
/** How often it is tried to record when the next one expires, while others write. */
const TRIES = 5;

/**
 * Forgets what has expired, in the background, whether anybody opens its account or not. The log knows when the
 * first memory of each table expires, so that no table is opened in vain.
 * @param clock milliseconds since 1970
 */
export function startExpiry({
  log,
  use,
  clock,
  lines,
  metrics,
  expiry = EXPIRY,
}: {
  log: Pick<Log, "expired" | "setExpiry">;
  use: Store["use"];
  clock: () => number;
  lines: Lines;
  metrics: Metrics;
  expiry?: Expiry | undefined;
}): {
  /** Resolves when the account under way is done. */
  stop(): Promise<void>;
} {
  const forgotten = metrics.counter(
    "ctxd_memories_expired_total",
    "Memories that were forgotten because their time had passed.",
  );
  const hasJumped = watchClock(clock, expiry.jump);
  const stopped = Promise.withResolvers<void>();
  let isStopped = false;
  let restUntil = 0;
  /** When accounts are tried again that failed, by `performance.now()`. */
  const resting = new Map<string, number>();

  const forget = async (accountId: string, now: number) => {
    try {
      forgotten.inc(await use(accountId, (open) => forgetExpired(open, log, now)));
      resting.delete(accountId);
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return;
      resting.set(accountId, performance.now() + expiry.retryAfter);
      lines.error("expiry_failed", { accountId, cause: String(error) });
    }
  };

  /** Tells whether there may be more at once. */
  const look = async (): Promise<boolean> => {
    if (hasJumped()) restUntil = performance.now() + expiry.restAfterJump;
    if (performance.now() < restUntil) return false;
    const now = clock();
    const accounts = await log.expired(now, ACCOUNTS + resting.size);
    const isResting = (accountId: string) => (resting.get(accountId) ?? 0) > performance.now();
    const due = accounts.filter((accountId) => !isResting(accountId));
    for (const accountId of due) {
      if (isStopped) return false;
      await forget(accountId, now);
    }
    return due.length >= ACCOUNTS;
  };

  const run = async () => {
    while (!isStopped) {
      const started = performance.now();
      const isMore = await look().catch((error) => {
        lines.warn("expiry_failed", { cause: String(error) });
        return false;
      });
      // Requests have the other half of the time; processes that start together do not all come together.
      const took = performance.now() - started;
      const rest = isMore ? took : expiry.every * (0.75 + Math.random() / 2);
      await withTimeLimit(stopped.promise, rest, () => {});
    }
  };
  const running = run();

  return {
    async stop() {
      isStopped = true;
      stopped.resolve();
      await running;
    },
  };
}

/** Forgets what has expired in a table, records when the next memory does, and tells how many went. */
async function forgetExpired(
  { table, writer }: OpenTable,
  log: Pick<Log, "setExpiry">,
  now: number,
): Promise<number> {
  for (let [forgotten, tries] = [0, 1]; ; ) {
    const { seq } = table;
    const soon = await table.expiring(MEMORIES);
    const ids = soon.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => id);
    if (ids.length === 0) {
      const isSet = await log.setExpiry(table.name, seq, soon[0]?.expiresAt ?? null);
      // Of a table that is written to all the time it is asked again soon.
      if (isSet || tries++ === TRIES) return forgotten;
      continue;
    }
    forgotten += await writer.change({
      ids,
      links: "near",
      apply(draft) {
        // It may have been given more time.
        const expired = ids.filter((id) => (draft.get(id)?.expiresAt ?? Infinity) <= now);
        removeLinked(draft, expired);
        return expired.length;
      },
    });
  }
}

/** Tells whether the clock went ahead by so much more than time has passed, since it was last asked. */
function watchClock(clock: () => number, jump: number): () => boolean {
  let ahead = clock() - performance.now();
  return () => {
    const before = ahead;
    ahead = clock() - performance.now();
    return ahead - before > jump;
  };
}
