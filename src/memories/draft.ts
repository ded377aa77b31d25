import type { ContentEmbedding } from "../embedding/embedder.ts";
import type { Outcome } from "./log/pending.ts";
import { bytesOf, minus, plus, type Usage } from "./quota.ts";
import { embeddingOf, type MemoryRow, type StoredMemory } from "./rows.ts";
import { isSameText } from "./same-text.ts";

/** The memories of a group of changes, as the changes before left them. */
export interface Draft {
  get(id: string): MemoryRow | null;
  /** What a memory was embedded as, if the change asked for it. */
  embeddingOf(id: string): ContentEmbedding | null;
  /** Memories with the same text as one of those whose texts the change asked for. */
  withText(content: string): MemoryRow[];
  put(memory: StoredMemory): void;
  remove(id: string): void;
}

/**
 * @param loaded the memories that the changes read
 * @param whole those whose vectors the changes asked for
 */
export function createDraft(
  loaded: readonly MemoryRow[],
  whole: readonly StoredMemory[],
): Draft & {
  /** By how much the table grows. */
  growth(): Usage;
  /** Makes a change; when it throws, nothing of it stays. */
  attempt(change: () => void): void;
  outcome(): Outcome;
} {
  const before = new Map(loaded.map((memory) => [memory.id, memory]));
  const loadedWhole = new Map(whole.map((memory) => [memory.id, memory]));
  const after = new Map<string, StoredMemory | null>();
  const get = (id: string) => (after.has(id) ? after.get(id) : before.get(id)) ?? null;
  let growth: Usage = { memories: 0, bytes: 0 };
  /** What undoes the change under way, step by step. */
  let steps: (() => void)[] = [];

  const set = (id: string, memory: StoredMemory | null) => {
    const [had, former, grownBefore] = [after.has(id), after.get(id) ?? null, growth];
    steps.push(() => {
      growth = grownBefore;
      if (had) after.set(id, former);
      else after.delete(id);
    });
    growth = plus(growth, minus(usageOf(memory), usageOf(get(id))));
    after.set(id, memory);
  };

  return {
    get,
    embeddingOf(id) {
      const memory = after.get(id) ?? loadedWhole.get(id);
      return memory ? embeddingOf(memory) : null;
    },
    withText(content) {
      const found: MemoryRow[] = [];
      const take = (memory: MemoryRow | null) => {
        if (memory && isSameText(memory.content, content)) found.push(memory);
      };
      // No copy of them all: each save asks.
      for (const id of before.keys()) take(get(id));
      for (const [id, memory] of after) if (!before.has(id)) take(memory);
      return found;
    },
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
      const removed = [...after].flatMap(([id, memory]) =>
        memory === null && before.has(id) ? id : [],
      );
      const hasRemains = removed.length > 0 || written.some(({ id }) => before.has(id));
      return { written, removed, hasRemains };
    },
  };
}

function usageOf(memory: MemoryRow | null): Usage {
  return memory ? { memories: 1, bytes: bytesOf(memory) } : { memories: 0, bytes: 0 };
}
