import { rowIds, type StoredMemory } from "./rows.ts";

/** The memories of a group of changes, as the changes before left them. */
export interface Draft {
  get(id: string): StoredMemory | null;
  put(memory: StoredMemory): void;
  remove(id: string): void;
}

/** What a group of changes comes to. */
export interface Outcome {
  /** Memories to add or replace. */
  written: StoredMemory[];
  /** Whether all of them are new. */
  isNew: boolean;
  /** Ids of rows that are there now and shall not be. */
  removed: string[];
}

/**
 * @param loaded the memories that the changes read
 * @param removedRows rows that are removed in any case
 */
export function createDraft(
  loaded: readonly StoredMemory[],
  removedRows: readonly string[],
): Draft & { outcome(): Outcome } {
  const gone = new Set(removedRows);
  const before = new Map(
    loaded.filter(({ id }) => !gone.has(id)).map((memory) => [memory.id, memory]),
  );
  const after = new Map<string, StoredMemory | null>();
  return {
    get: (id) => (after.has(id) ? after.get(id) : before.get(id)) ?? null,
    put: (memory) => void after.set(memory.id, memory),
    remove: (id) => void after.set(id, null),
    outcome() {
      const written = [...after.values()].filter((memory) => memory !== null);
      // Of a memory that got shorter, the passages beyond its new end.
      const shed = [...after].flatMap(([id, memory]) =>
        rowIds(id, before.get(id)?.vectors.length ?? 0).slice(memory?.vectors.length ?? 0),
      );
      return {
        written,
        isNew: written.every(({ id }) => !before.has(id)),
        removed: [...removedRows, ...shed],
      };
    },
  };
}
