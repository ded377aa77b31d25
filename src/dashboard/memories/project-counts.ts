import { LRUCache } from "lru-cache";
import { wholeAccount } from "../../keys/reach.ts";
import type { Memories } from "../../memories/rules/memories.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { ProjectCounts } from "./project-switch.tsx";

/** Milliseconds that a page waits for counts. */
const TIMEOUT_MS = 2_000;
/** Milliseconds that a page waits if the account has older counts of many memories. */
const SHORT_TIMEOUT_MS = 40;
/** From this number of memories on, older counts are good enough. */
const MANY_MEMORIES = 20_000;
/** Milliseconds for which a slow count is not repeated. */
const REPEAT_AFTER_MS = 60_000;
const MAX_ACCOUNTS = 1_000;

/**
 * Makes a function that counts an account's memories by project. If counting takes long, it returns the last counts
 * or none, and a later page gets the new ones.
 */
export function createProjectCounts({
  memories,
  timeoutMs = TIMEOUT_MS,
}: {
  memories: Pick<Memories, "stats">;
  timeoutMs?: number;
}): (accountId: string) => Promise<ProjectCounts> {
  const slow = new LRUCache<string, Promise<ProjectCounts>>({
    max: MAX_ACCOUNTS,
    ttl: REPEAT_AFTER_MS,
  });
  /** The last counts of accounts with many memories. */
  const last = new LRUCache<string, ProjectCounts>({ max: MAX_ACCOUNTS });

  const keep = (accountId: string, counts: ProjectCounts): void => {
    const total = counts.reduce((sum, { memories }) => sum + memories, 0);
    if (total >= MANY_MEMORIES) last.set(accountId, counts);
    else last.delete(accountId);
  };

  return async (accountId) => {
    const known = slow.get(accountId);
    const counts =
      known ?? memories.stats(wholeAccount(accountId)).then(({ projects }) => projects);
    const before = last.get(accountId);
    const wait = before ? Math.min(SHORT_TIMEOUT_MS, timeoutMs) : timeoutMs;
    const counted = await withTimeLimit(counts, wait, () => null);
    if (counted) {
      keep(accountId, counted);
      return counted;
    }
    if (!known && !before) {
      slow.set(accountId, counts);
      counts.catch(() => slow.delete(accountId));
    }
    counts.then((late) => keep(accountId, late)).catch(() => {});
    return before ?? [];
  };
}
