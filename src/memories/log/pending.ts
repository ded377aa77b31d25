import { createPause } from "../../timing/pause.ts";
import type { StoredMemory } from "../model/rows.ts";

/** The result of the changes in one commit. */
export interface Outcome {
  /** Memories to add or replace. */
  written: readonly StoredMemory[];
  /** Ids of memories to remove. */
  removed: readonly string[];
  /** Whether earlier data is replaced or removed. */
  leavesOldData: boolean;
}

/** The newest state of each memory that changed since the last flush: it is in the log, and not in the base. */
export type Pending = ReturnType<typeof createPending>;

/** All times are those of `performance.now()`: setting the clock must not delay a flush. */
export function createPending() {
  /** By id; `null` for removed memories. Apart from their numbers, so that all can be copied at once. */
  const changes = new Map<string, StoredMemory | null>();
  /** The number of the entry that changed a memory last. */
  const seqs = new Map<string, number>();
  let bytes = 0;
  let dirtySince: number | null = null;
  let remainsSince: number | null = null;
  let lastCommit = 0;

  const set = (id: string, memory: StoredMemory | null, seq: number) => {
    const former = changes.get(id);
    bytes += bytesOf(id, memory) - (former === undefined ? 0 : bytesOf(id, former));
    changes.set(id, memory);
    seqs.set(id, seq);
  };

  return {
    get size() {
      return changes.size;
    },
    /** Bytes of the texts, vectors and token states. */
    get bytes() {
      return bytes;
    },
    /** When the oldest change was made; `null` without any. */
    get dirtySince() {
      return dirtySince;
    },
    /** When the oldest data was removed or replaced that is still in the files; `null` without any. */
    get remainsSince() {
      return remainsSince;
    },
    get lastCommit() {
      return lastCommit;
    },

    note(seq: number, { written, removed, leavesOldData }: Outcome): void {
      for (const memory of written) set(memory.id, memory, seq);
      for (const id of removed) set(id, null, seq);
      lastCommit = performance.now();
      dirtySince ??= lastCommit;
      if (leavesOldData) remainsSince ??= lastCommit;
    },

    /** The new state of a memory: `null` if it was removed, `undefined` if it has not changed. */
    get: (id: string): StoredMemory | null | undefined => changes.get(id),

    ids: (): string[] => [...changes.keys()],

    /** Added and changed memories. */
    memories: (): StoredMemory[] => [...changes.values()].filter((memory) => memory !== null),

    /** All changes; `null` for removed memories. */
    all: (): Map<string, StoredMemory | null> => new Map(changes),

    /**
     * Drops the changes that a flush has written, in short steps: until then they say the same as the base.
     * @param upTo number of the newest entry when the flush began
     * @param began when the flush began
     */
    async drop(upTo: number, began: number): Promise<void> {
      const pause = createPause();
      for (const [id, seq] of seqs) {
        await pause();
        // Another commit may have changed it meanwhile.
        if (seq > upTo || seqs.get(id) !== seq) continue;
        bytes -= bytesOf(id, changes.get(id) ?? null);
        changes.delete(id);
        seqs.delete(id);
      }
      // Changes since then are not older than the flush.
      dirtySince = changes.size > 0 ? began : null;
      remainsSince = changes.size > 0 ? remainsSince && began : null;
    },
  };
}

function bytesOf(id: string, memory: StoredMemory | null): number {
  if (memory === null) return id.length;
  const { content, metadata, vectors, states } = memory;
  return vectors.reduce(
    (sum, { byteLength }) => sum + byteLength,
    content.length + metadata.length + states.length,
  );
}
