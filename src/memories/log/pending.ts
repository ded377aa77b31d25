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
  let changes = new Map<string, StoredMemory | null>();
  /** The number of the entry that changed a memory last. */
  let seqs = new Map<string, number>();
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
     * Drops the changes that a flush has written.
     * @param upTo number of the newest entry when the flush began
     * @param began when the flush began
     */
    drop(upTo: number, began: number): void {
      const former = { changes, seqs };
      [changes, seqs, bytes] = [new Map(), new Map(), 0];
      // There are few newer ones. To delete all others would take ten times as long.
      for (const [id, seq] of former.seqs) {
        if (seq > upTo) set(id, former.changes.get(id) ?? null, seq);
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
