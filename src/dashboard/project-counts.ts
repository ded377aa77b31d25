import { LRUCache } from "lru-cache";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import { withTimeLimit } from "../time-limit.ts";
import type { ProjectCounts } from "./project-switch.tsx";

/** Milliseconds that a page waits for counts. */
const PATIENCE = 2_000;
/** The same where the counts of before were of so many memories that a few more make no difference. */
const LITTLE_PATIENCE = 40;
const MANY = 20_000;
/** Milliseconds for which counts hold that took longer. */
const LIFETIME = 60_000;
const ACCOUNTS = 1_000;

/**
 * Makes what counts an account's memories by project. A page need not wait for the counts of very many
 * memories: it has those of before, or none, and a later page has them.
 */
export function createProjectCounts({
  memories,
  patience = PATIENCE,
}: {
  memories: Pick<Memories, "stats">;
  patience?: number;
}): (accountId: string) => Promise<ProjectCounts> {
  const slow = new LRUCache<string, Promise<ProjectCounts>>({ max: ACCOUNTS, ttl: LIFETIME });
  /** Of accounts with many memories. */
  const last = new LRUCache<string, ProjectCounts>({ max: ACCOUNTS });

  const keep = (accountId: string, counts: ProjectCounts): void => {
    const total = counts.reduce((sum, { memories }) => sum + memories, 0);
    if (total >= MANY) last.set(accountId, counts);
    else last.delete(accountId);
  };

  return async (accountId) => {
    const known = slow.get(accountId);
    const counts =
      known ?? memories.stats(wholeAccount(accountId)).then(({ projects }) => projects);
    const before = last.get(accountId);
    const wait = before ? Math.min(LITTLE_PATIENCE, patience) : patience;
    const inTime = await withTimeLimit(counts, wait, () => null);
    if (inTime) {
      keep(accountId, inTime);
      return inTime;
    }
    if (!known && !before) {
      slow.set(accountId, counts);
      counts.catch(() => slow.delete(accountId));
    }
    counts.then((late) => keep(accountId, late)).catch(() => {});
    return before ?? [];
  };
}
