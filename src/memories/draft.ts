import { bytesOf, type Usage } from "./quota.ts";
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
): Draft & {
  /** By how much the table grows, but for `removedRows`. */
  growth(): Usage;
  /** Makes a change; when it throws, nothing of it stays. */
  attempt(change: () => void): void;
  outcome(): Outcome;
} {
  const gone = new Set(removedRows);
  const before = new Map(
    loaded.filter(({ id }) => !gone.has(id)).map((memory) => [memory.id, memory]),
  );
  const after = new Map<string, StoredMemory | null>();
  const get = (id: string) => (after.has(id) ? after.get(id) : before.get(id)) ?? null;
  let growth: Usage = { memories: 0, bytes: 0 };
  /** What undoes the change under way, step by step. */
  let steps: (() => void)[] = [];

  const set = (id: string, memory: StoredMemory | null) => {
    const old = get(id);
    const [had, former, grownBefore] = [after.has(id), after.get(id) ?? null, growth];
    steps.push(() => {
      growth = grownBefore;
      if (had) after.set(id, former);
      else after.delete(id);
    });
    growth = {
      memories: growth.memories + Number(memory !== null) - Number(old !== null),
      bytes: growth.bytes + (memory ? bytesOf(memory) : 0) - (old ? bytesOf(old) : 0),
    };
    after.set(id, memory);
  };

  return {
    get,
    put: (memory) => set(memory.id, memory),
    remove: (id) => set(id, null),
    growth: () => growth,
    attempt(change) {
      steps = [];
      try {
        change();
      } catch (error) {
        for (const undo of steps.reverse()) undo();
        throw error;
      }
    },
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
