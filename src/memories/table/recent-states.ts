import type { StoredMemory } from "../model/rows.ts";

/** The most memories whose token states are kept: some megabytes. */
const MAX_MEMORIES = 2_000;

/**
 * Keeps the token states of the memories that were last read from a base. A search compares what it has
 * found word by word at once; reading the states again would take as long as the search.
 * @param changes grows with every commit, which makes the kept states invalid
 */
export function createRecentStates(changes: () => number) {
  const states = new Map<string, Int8Array>();
  let validFor = changes();

  const refresh = () => {
    if (validFor === changes() && states.size <= MAX_MEMORIES) return;
    states.clear();
    validFor = changes();
  };

  return {
    /** Reads memories, and keeps their states unless there was a commit meanwhile. */
    async read(task: () => Promise<StoredMemory[]>): Promise<StoredMemory[]> {
      const began = changes();
      const memories = await task();
      refresh();
      if (began === validFor) for (const memory of memories) states.set(memory.id, memory.states);
      return memories;
    },

    /** The kept states of some memories, by id. */
    of(ids: readonly string[]): Map<string, Int8Array> {
      refresh();
      const kept = new Map<string, Int8Array>();
      for (const id of ids) {
        const own = states.get(id);
        if (own) kept.set(id, own);
      }
      return kept;
    },
  };
}
