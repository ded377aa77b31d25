import type { ContentEmbedding } from "../../embedding/embedder.ts";
import type { Outcome } from "../log/pending.ts";
import { bytesOf, minus, plus, type Usage } from "../model/quota.ts";
import { embeddingOf, type MemoryRow, type StoredMemory } from "../model/rows.ts";
import { isSameText } from "../model/same-text.ts";

/** The memories of a commit while its changes are made. Each change sees the changes before it. */
export interface Draft {
  get(id: string): MemoryRow | null;
  /** A memory's vectors and states, if the change asked for them. */
  embeddingOf(id: string): ContentEmbedding | null;
  /** Memories with this text, if the change asked for its duplicates. */
  withText(content: string): MemoryRow[];
  put(memory: StoredMemory): void;
  remove(id: string): void;
}

/**
 * @param found the memories that the changes read
 * @param loaded those with vectors
 */
export function createDraft(
  found: readonly MemoryRow[],
  loaded: readonly StoredMemory[],
): Draft & {
  /** The growth of the table. */
  growth(): Usage;
  /** Makes a change. If it throws, the change is undone. */
  attempt(change: () => void): void;
  outcome(): Outcome;
} {
  const before = new Map(found.map((memory) => [memory.id, memory]));
  const embedded = new Map(loaded.map((memory) => [memory.id, memory]));
  const after = new Map<string, StoredMemory | null>();
  const get = (id: string) => (after.has(id) ? after.get(id) : before.get(id)) ?? null;
  let growth: Usage = { memories: 0, bytes: 0 };
  /** Undoes the running change, step by step. */
  let undoSteps: (() => void)[] = [];

  const set = (id: string, memory: StoredMemory | null) => {
    const [hadChange, former, growthBefore] = [after.has(id), after.get(id) ?? null, growth];
    undoSteps.push(() => {
      growth = growthBefore;
      if (hadChange) after.set(id, former);
      else after.delete(id);
    });
    growth = plus(growth, minus(modelUsage(memory), modelUsage(get(id))));
    after.set(id, memory);
  };

  return {
    get,
    embeddingOf(id) {
      const memory = after.get(id) ?? embedded.get(id);
      return memory ? embeddingOf(memory) : null;
    },
    withText(content) {
      const same: MemoryRow[] = [];
      const addIfSame = (memory: MemoryRow | null) => {
        if (memory && isSameText(memory.content, content)) same.push(memory);
      };
      // No merged copy of both maps: each save calls this.
      for (const id of before.keys()) addIfSame(get(id));
      for (const [id, memory] of after) if (!before.has(id)) addIfSame(memory);
      return same;
    },
    put: (memory) => set(memory.id, memory),
    remove: (id) => set(id, null),
    growth: () => growth,
    attempt(change) {
      undoSteps = [];
      try {
        change();
      } catch (error) {
        for (const undo of undoSteps.reverse()) undo();
        throw error;
      }
    },
    outcome() {
      const written = [...after.values()].filter((memory) => memory !== null);
      const removed = [...after].flatMap(([id, memory]) =>
        memory === null && before.has(id) ? id : [],
      );
      const leavesOldData = removed.length > 0 || written.some(({ id }) => before.has(id));
      return { written, removed, leavesOldData };
    },
  };
}

function modelUsage(memory: MemoryRow | null): Usage {
  return memory ? { memories: 1, bytes: bytesOf(memory) } : { memories: 0, bytes: 0 };
}
