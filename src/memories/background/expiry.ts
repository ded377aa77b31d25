import { AppError } from "../../errors.ts";
import type { Log as Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { type Loop, spread, startLoop } from "../../timing/loop.ts";
import type { Log } from "../log/log.ts";
import type { OpenTable } from "../store/pooled-table.ts";
import type { Store } from "../store/store.ts";
import { removeLinked } from "../table/links.ts";

/** Times of removing expired memories, in milliseconds. Answers leave them out even before that. */
export const EXPIRY = {
  every: 5_000,
  /** A clock that goes ahead by this much at once may be wrong. */
  jump: 60_000,
  /** Nothing is removed for this long after such a jump, because the clock may be set back. */
  restAfterJump: 20_000,
  /** An account whose removal failed is tried again after this long. */
  retryAfter: 30_000,
};
export type Expiry = typeof EXPIRY;

/** Accounts that one query returns, and memories that one commit removes. */
const ACCOUNT_BATCH = 16;
const MEMORY_BATCH = 500;
/** How often recording the next expiry is tried when other writes come between. */
const MAX_EXPIRY_TRIES = 5;

/**
 * Removes expired memories in the background, also of accounts that nobody uses. The log knows when the
 * first memory of each table expires, so that no table is opened without need.
 * @param clock milliseconds since 1970
 */
export function startExpiry({
  log,
  use,
  clock,
  logger,
  metrics,
  expiry = EXPIRY,
}: {
  log: Pick<Log, "expired" | "setExpiry">;
  use: Store["use"];
  clock: () => number;
  logger: Logger;
  metrics: Metrics;
  expiry?: Expiry | undefined;
}): Loop {
  const forgotten = metrics.counter(
    "ctxd_memories_expired_total",
    "Memories that were removed because they had expired.",
  );
  const hasJumped = createJumpCheck(clock, expiry.jump);
  let restUntil = 0;
  /** When failed accounts are tried again, by `performance.now()`. */
  const retryTimes = new Map<string, number>();

  const forget = async (accountId: string, now: number) => {
    try {
      forgotten.inc(await use(accountId, (open) => forgetExpired(open, log, now)));
      retryTimes.delete(accountId);
    } catch (error) {
      if (error instanceof AppError && error.code === "not_found") return;
      retryTimes.set(accountId, performance.now() + expiry.retryAfter);
      logger.error("expiry_failed", { accountId, cause: String(error) });
    }
  };

  /**
   * Removes what has expired.
   * @returns whether more accounts may be due at once
   */
  const removeDue = async (isStopped: () => boolean): Promise<boolean> => {
    if (hasJumped()) restUntil = performance.now() + expiry.restAfterJump;
    if (performance.now() < restUntil) return false;
    const now = clock();
    const accounts = await log.expired(now, ACCOUNT_BATCH + retryTimes.size);
    const isResting = (accountId: string) => (retryTimes.get(accountId) ?? 0) > performance.now();
    const due = accounts.filter((accountId) => !isResting(accountId));
    for (const accountId of due) {
      if (isStopped()) return false;
      await forget(accountId, now);
    }
    return due.length >= ACCOUNT_BATCH;
  };

  return startLoop(async (isStopped) => {
    const started = performance.now();
    const isMore = await removeDue(isStopped).catch((error) => {
      logger.warn("expiry_failed", { cause: String(error) });
      return false;
    });
    // At most half of the time, so that requests are served.
    return isMore ? performance.now() - started : spread(expiry.every);
  });
}

/**
 * Removes the expired memories of a table, and records when the next one expires.
 * @returns the number of removed memories
 */
async function forgetExpired(
  { table, writer }: OpenTable,
  log: Pick<Log, "setExpiry">,
  now: number,
): Promise<number> {
  for (let [forgotten, tries] = [0, 1]; ; ) {
    const { seq } = table;
    const soon = await table.expiring(MEMORY_BATCH);
    const ids = soon.filter(({ expiresAt }) => expiresAt <= now).map(({ id }) => id);
    if (ids.length === 0) {
      const isSet = await log.setExpiry(table.name, seq, soon[0]?.expiresAt ?? null);
      // A table with constant writes is checked again soon.
      if (isSet || tries++ === MAX_EXPIRY_TRIES) return forgotten;
      continue;
    }
    forgotten += await writer.change({
      ids,
      links: "near",
      apply(draft) {
        // A write may have set a later expiry meanwhile.
        const expired = ids.filter((id) => (draft.get(id)?.expiresAt ?? Infinity) <= now);
        removeLinked(draft, expired);
        return expired.length;
      },
    });
  }
}

/** Returns a function that tells whether the clock has jumped ahead since the last call. */
function createJumpCheck(clock: () => number, jump: number): () => boolean {
  let ahead = clock() - performance.now();
  return () => {
    const before = ahead;
    ahead = clock() - performance.now();
    return ahead - before > jump;
  };
}
