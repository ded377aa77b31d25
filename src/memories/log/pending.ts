import type { StoredMemory } from "../rows.ts";

/** What a group of changes comes to. */
export interface Outcome {
  /** Memories to add or replace. */
  written: readonly StoredMemory[];
  /** Ids of memories that are there now and shall not be. */
  removed: readonly string[];
  /** Whether something that was there before is replaced or removed. */
  hasRemains: boolean;
}

/**
 * The newest state of each memory that changed since the last flush: what the log holds of a table,
 * and the base does not.
 */
export type Pending = ReturnType<typeof createPending>;

interface Change {
  seq: number;
  memory: StoredMemory | null;
  bytes: number;
}

/** Moments are those of `performance.now()`: a clock that is set must not put off a flush. */
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
    /** Of their texts, vectors and states. */
    get bytes() {
      return bytes;
    },
    /** When the oldest change was made; `null` without any. */
    get dirtySince() {
      return dirtySince;
    },
    /** When something was first removed or replaced that is still in the files. */
    get remainsSince() {
      return remainsSince;
    },
    get lastCommit() {
      return lastCommit;
    },

    note(seq: number, { written, removed, hasRemains }: Outcome): void {
      for (const memory of written) set(memory.id, { seq, memory, bytes: sizeOf(memory) });
      for (const id of removed) set(id, { seq, memory: null, bytes: id.length });
      lastCommit = performance.now();
      dirtySince ??= lastCommit;
      if (hasRemains) remainsSince ??= lastCommit;
    },

    /** The new state of a memory, `null` when it was removed, `undefined` when it has not changed. */
    get: (id: string): StoredMemory | null | undefined => changes.get(id)?.memory,

    ids: (): string[] => [...changes.keys()],

    /** Memories that are there. */
    memories: (): StoredMemory[] => [...changes.values()].flatMap(({ memory }) => memory ?? []),

    /** All changes, `null` for what was removed. */
    all: (): Map<string, StoredMemory | null> =>
      new Map([...changes].map(([id, { memory }]) => [id, memory])),

    /**
     * Forgets what a flush has written: changes up to a number, which was the last one when it began.
     */
    drop(upTo: number, began: number): void {
      for (const [id, change] of changes) {
        if (change.seq > upTo) continue;
        bytes -= change.bytes;
        changes.delete(id);
      }
      // What came meanwhile is at most as old as the flush.
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
