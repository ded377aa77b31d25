import { LRUCache } from "lru-cache";
import { wholeAccount } from "../keys/reach.ts";
import type { Memories } from "../memories/memories.ts";
import type { ProjectCounts } from "./project-switch.tsx";

/** Milliseconds that a page waits for counts. */
const PATIENCE = 2_000;
/** Milliseconds for which counts hold that took longer. */
const LIFETIME = 60_000;
const ACCOUNTS = 1_000;

/**
 * Makes what counts an account's memories by project. A page need not wait for the counts of very many
 * memories: there are none then, and a later page has them.
 */
export function createProjectCounts({
  memories,
  patience = PATIENCE,
}: {
  memories: Pick<Memories, "stats">;
  patience?: number;
}): (accountId: string) => Promise<ProjectCounts> {
  const slow = new LRUCache<string, Promise<ProjectCounts>>({ max: ACCOUNTS, ttl: LIFETIME });

  return async (accountId) => {
    const known = slow.get(accountId);
    const counts =
      known ?? memories.stats(wholeAccount(accountId)).then(({ projects }) => projects);
    const inTime = await Promise.race([counts, Bun.sleep(patience).then(() => null)]);
    if (inTime) return inTime;
    if (!known) {
      slow.set(accountId, counts);
      counts.catch(() => slow.delete(accountId));
    }
    return [];
  };
}
