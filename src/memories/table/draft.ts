import type { ContentEmbedding } from "../../embedding/embedder.ts";
import type { Outcome } from "../log/pending.ts";
import type { IdempotencyRecord, Lease } from "../log/records.ts";
import type { Filter } from "../model/filter.ts";
import { bytesOf, minus, plus, type Usage } from "../model/quota.ts";
import { embeddingOf, isSameText, type MemoryRow, type StoredMemory } from "../model/rows.ts";

/** A change of single memories. If `apply` throws, this change fails and the others are made. */
export interface Change<Result> {
  /** Memories that `apply` reads. */
  ids: readonly string[];
  /** Whether `apply` reads their vectors too. */
  withVectors?: boolean;
  /** Whether `apply` reads the memories linked with them (`near`), or their whole histories (`chain`). */
  links?: "near" | "chain" | undefined;
  /** Memories whose duplicates `apply` asks for. */
  withTextsOf?: readonly StoredMemory[];
  /** The answer to record for a request with an `Idempotency-Key`, if the change is made. */
  answer?: IdempotencyRecord | undefined;
  /** The lease of a copy that this change is part of. Without the lease, the change is not made. */
  lease?: Lease | undefined;
  apply(draft: Draft): Result;
}

/** A change that waits for its commit. */
export interface QueuedChange extends Change<void> {
  /** Removes memories that match this filter, besides what `apply` does; see `MAX_REMOVED`. */
  filter: Filter | null;
  /** Whether this change may relink a memory that is linked with removed ones; by default all. */
  mayRelink?: ((memory: MemoryRow) => boolean) | undefined;
  /**
   * @param removed the number of memories that the filter removed
   * @param left the number of others that match it
   */
  done(removed: number, left: number): void;
  fail(error: unknown): void;
}

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
    growth = plus(growth, minus(usageOf(memory), usageOf(get(id))));
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

function usageOf(memory: MemoryRow | null): Usage {
  return memory ? { memories: 1, bytes: bytesOf(memory) } : { memories: 0, bytes: 0 };
}
