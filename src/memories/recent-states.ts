import type { StoredMemory } from "./rows.ts";

/** States that are kept at the most: some megabytes. */
const MOST = 2_000;

/**
 * The states of memories that a base was last asked for: what a question finds is compared with it at
 * once, and to read it again takes as long as finding it.
 * @param changes grows with every commit, after which nothing of it may be used
 */
export function createRecentStates(changes: () => number) {
  const states = new Map<string, Int8Array>();
  let moment = changes();

  const refresh = () => {
    if (moment === changes() && states.size <= MOST) return;
    states.clear();
    moment = changes();
  };

  return {
    /** Reads memories, and keeps their states unless a commit came between. */
    async read(task: () => Promise<StoredMemory[]>): Promise<StoredMemory[]> {
      const began = changes();
      const memories = await task();
      refresh();
      if (began === moment) for (const memory of memories) states.set(memory.id, memory.states);
      return memories;
    },

    /** Those that are known of some memories. */
    of(ids: readonly string[]): Map<string, Int8Array> {
      refresh();
      const known = new Map<string, Int8Array>();
      for (const id of ids) {
        const own = states.get(id);
        if (own) known.set(id, own);
      }
      return known;
    },
  };
}
