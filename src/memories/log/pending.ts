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

interface Change {
  seq: number;
  memory: StoredMemory | null;
  bytes: number;
}

/** All times are those of `performance.now()`: setting the clock must not delay a flush. */
export function createPending() {
  const changes = new Map<string, Change>();
  let bytes = 0;
  let dirtySince: number | null = null;
  let remainsSince: number | null = null;
  let lastCommit = 0;

  const set = (id: string, change: Change) => {
    bytes += change.bytes - (changes.get(id)?.bytes ?? 0);
    changes.set(id, change);
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
      for (const memory of written) set(memory.id, { seq, memory, bytes: sizeOf(memory) });
      for (const id of removed) set(id, { seq, memory: null, bytes: id.length });
      lastCommit = performance.now();
      dirtySince ??= lastCommit;
      if (leavesOldData) remainsSince ??= lastCommit;
    },

    /** The new state of a memory: `null` if it was removed, `undefined` if it has not changed. */
    get: (id: string): StoredMemory | null | undefined => changes.get(id)?.memory,

    ids: (): string[] => [...changes.keys()],

    /** Added and changed memories. */
    memories: (): StoredMemory[] => [...changes.values()].flatMap(({ memory }) => memory ?? []),

    /** All changes; `null` for removed memories. */
    all: (): Map<string, StoredMemory | null> =>
      new Map([...changes].map(([id, { memory }]) => [id, memory])),

    /**
     * Drops the changes that a flush has written.
     * @param upTo number of the newest entry when the flush began
     * @param began when the flush began
     */
    drop(upTo: number, began: number): void {
      for (const [id, change] of changes) {
        if (change.seq > upTo) continue;
        bytes -= change.bytes;
        changes.delete(id);
      }
      // Changes since then are not older than the flush.
      dirtySince = changes.size > 0 ? began : null;
      remainsSince = changes.size > 0 ? remainsSince && began : null;
    },
  };
}

function sizeOf({ content, metadata, vectors, states }: StoredMemory): number {
  return vectors.reduce(
    (sum, { byteLength }) => sum + byteLength,
    content.length + metadata.length + states.length,
  );
}
