import { AppError } from "../errors.ts";
import { checkExpiry, newMemory } from "./change-memory.ts";
import { type Filter, narrows } from "./filter.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ImportLine, type ImportOptions, importMemories } from "./import.ts";
import type { Answer } from "./log/log.ts";
import { MEMORY_ID, type Memory, type MemorySource, type NewMemory } from "./memory.ts";
import { findInOrder, notFound, type Reading } from "./reading.ts";
import { type StoredMemory, toMemory } from "./rows.ts";
import type { Store } from "./store.ts";
import { createUpdate, embedderOf } from "./updating.ts";

/** How memories are saved. */
interface Saving {
  source?: MemorySource | null;
  idempotencyKey?: string | undefined;
}

/** How memories are saved, changed and removed; see `createMemories`. */
export function createWriting({
  store,
  idempotency,
  clock,
  get,
}: {
  store: Pick<Store, "use">;
  idempotency: Idempotency;
  clock: () => number;
  get: Reading["get"];
}) {
  const insert = async (
    accountId: string,
    inputs: readonly NewMemory[],
    source: MemorySource | null,
    answer?: (ids: string[]) => Answer,
  ): Promise<StoredMemory[]> => {
    for (const [index, input] of inputs.entries()) {
      const path = inputs.length > 1 ? `memories/${index}/expires_at` : "expires_at";
      checkExpiry(input.expires_at, clock(), path);
    }
    // Before the work is done in vain.
    const bytes = inputs.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const growth = { memories: inputs.length, bytes };
    await store.use(accountId, async ({ writer }) => writer.checkRoom(growth));
    const used = await embedderOf(store, accountId);
    const embedded = await Promise.all(
      inputs.map(async (input) => ({ input, embedding: await used.embedContent(input.content) })),
    );
    const now = clock();
    const memories = embedded.map(({ input, embedding }) =>
      newMemory(input, embedding, source, now),
    );
    const made = await store.use(accountId, async ({ writer, embedder }) => {
      if (embedder !== used) return null;
      return await writer.change({
        ids: [],
        apply(draft) {
          for (const memory of memories) draft.put(memory);
          return memories;
        },
        answer: answer?.(memories.map(({ id }) => id)),
      });
    });
    return made ?? insert(accountId, inputs, source, answer);
  };

  return {
    /**
     * Saves memories, all or none.
     * @param source what saves them, as far as it is known
     * @param idempotencyKey the same key within 24 hours returns the memories it made before
     * @throws AppError `validation_failed` for an `expires_at` that has passed
     */
    async create(
      accountId: string,
      inputs: readonly NewMemory[],
      { source = null, idempotencyKey }: Saving = {},
    ): Promise<Memory[]> {
      if (idempotencyKey === undefined) {
        return (await insert(accountId, inputs, source)).map(toMemory);
      }
      let made: StoredMemory[] = [];
      const ids = await idempotency.once(accountId, idempotencyKey, inputs, async (answer) => {
        made = await insert(accountId, inputs, source, answer);
        return made.map(({ id }) => id);
      });
      // Not read again: if that fails, what is there would be told not to be.
      if (made.length > 0) return made.map(toMemory);
      const memories = await findInOrder(store, accountId, ids);
      if (memories.length < ids.length) {
        throw new AppError("conflict", "What this Idempotency-Key made has been deleted since.");
      }
      return memories.map(toMemory);
    },

    /** Brings in memories from elsewhere; see `importMemories`. */
    import: (accountId: string, lines: AsyncIterable<ImportLine>, options: ImportOptions) =>
      importMemories({ store, clock }, accountId, lines, options),

    update: createUpdate({ store, clock, get }),

    /** @throws AppError `memory_not_found` */
    async remove(accountId: string, id: string): Promise<void> {
      if (!MEMORY_ID.test(id)) throw notFound(id);
      await store.use(accountId, ({ writer }) =>
        writer.change({
          ids: [id],
          apply(draft) {
            if (!draft.get(id)) throw notFound(id);
            draft.remove(id);
          },
        }),
      );
    },

    /**
     * Removes all memories that a filter lets pass, and returns how many there were.
     * @throws AppError `validation_failed` for a filter without any condition
     */
    async removeMatching(accountId: string, filter: Filter): Promise<number> {
      if (!narrows(filter)) {
        throw new AppError(
          "validation_failed",
          "Deleting everything at once is not possible: give at least one filter.",
        );
      }
      return store.use(accountId, ({ writer }) => writer.removeMatching(filter));
    },
  };
}
