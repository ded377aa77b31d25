import { LRUCache } from "lru-cache";
import { DEFAULT_DECAY, type Decay } from "../config.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { watchModels } from "../embedding/model-at-hand.ts";
import { AppError } from "../errors.ts";
import { changeMemory, newMemory, toTime } from "./change-memory.ts";
import { createExport } from "./export.ts";
import { type Filter, narrows } from "./filter.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ImportLine, type ImportOptions, importMemories } from "./import.ts";
import type { Answer } from "./log/log.ts";
import {
  type FoundMemory,
  MEMORY_ID,
  type Memory,
  type MemoryChanges,
  type MemorySource,
  type NewMemory,
  type Similar,
} from "./memory.ts";
import type { SearchMode } from "./ranking/rank.ts";
import { retention } from "./ranking/retention.ts";
import { decodeCursor, encodeCursor } from "./requests.ts";
import { type StoredMemory, toMemory } from "./rows.ts";
import { type SearchRequest, searchTable } from "./search.ts";
import { findSimilar } from "./similar.ts";
import { createSurvey, type Stats } from "./stats.ts";
import type { Store } from "./store.ts";

/** How memories are saved. */
interface Saving {
  source?: MemorySource | null;
  idempotencyKey?: string | undefined;
}

/** How a memory is changed. */
interface Changing {
  source?: MemorySource | null;
  isExpected?: (memory: Memory) => boolean;
}

/** Accounts whose last search is remembered. */
const MOST_FOUND = 10_000;

/**
 * What the product does: every rule about memories is here, and every transport calls it. The
 * account comes first in each call, and nothing of another account can be reached through it.
 */
export type Memories = ReturnType<typeof createMemories>;

/** @param clock milliseconds since 1970 */
export function createMemories({
  store,
  idempotency,
  clock,
  decay = DEFAULT_DECAY,
}: {
  store: Store;
  idempotency: Idempotency;
  clock: () => number;
  decay?: Decay;
}) {
  const survey = createSurvey({ clock, decay });
  const found = new LRUCache<string, { id: string; at: Date }>({ max: MOST_FOUND });
  const isModelAtHand = watchModels();

  /** The embedder of an account's table, which another one may replace meanwhile. */
  const embedderOf = (accountId: string): Promise<Embedder> =>
    store.use(accountId, async ({ embedder }) => embedder);

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
    const used = await embedderOf(accountId);
    const vectors = await Promise.all(inputs.map(({ content }) => used.embedContent(content)));
    const now = clock();
    const memories = inputs.map((input, index) =>
      newMemory(input, vectors[index] ?? [], source, now),
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

  /** Memories by id, in the order of the ids; those that aren't there are left out. */
  const findInOrder = async (accountId: string, ids: readonly string[]) => {
    const rows = await store.use(accountId, ({ table }) => table.find(ids));
    const byId = new Map(rows.map((row) => [row.id, row]));
    return ids.map((id) => byId.get(id)).filter((row) => row !== undefined);
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
      const memories = await findInOrder(accountId, ids);
      if (memories.length < ids.length) {
        throw new AppError("conflict", "What this Idempotency-Key made has been deleted since.");
      }
      return memories.map(toMemory);
    },

    /**
     * Memories that answer a query, the best first, and the mode in which they were found: a hybrid
     * search goes by words alone while the model is still being loaded.
     */
    async search(
      accountId: string,
      request: SearchRequest,
    ): Promise<{ memories: FoundMemory[]; mode: SearchMode }> {
      const { hits, mode } = await store.use(accountId, async ({ table, embedder }) => {
        const isByWords = request.mode === "hybrid" && !(await isModelAtHand(embedder));
        const mode = isByWords ? "keyword" : request.mode;
        const moment = { now: clock(), decay };
        return { mode, hits: await searchTable(table, embedder, { ...request, mode }, moment) };
      });
      const memories = hits.map(({ memory, score, explanation }) => ({
        ...toMemory(memory),
        score,
        ...(request.explain && { explanation }),
      }));
      const [best] = memories;
      if (best) found.set(accountId, { id: best.id, at: new Date(clock()) });
      return { memories, mode };
    },

    /** The best memory of the last search that found any since the start, and when that was. */
    lastFound: (accountId: string): { id: string; at: Date } | null => found.get(accountId) ?? null,

    /**
     * Memories that say nearly the same as one that was saved just now, to be updated instead of
     * piled up. None when they can't be read: the save has succeeded all the same.
     */
    async similar(accountId: string, id: string): Promise<Similar[]> {
      const find = store.use(accountId, ({ table }) => findSimilar(table, table.model, id));
      return await find.catch(() => []);
    },

    /** A page of memories, newest first, and where the next one starts (`null` at the end). */
    async list(
      accountId: string,
      { filter, limit, cursor }: { filter: Filter; limit: number; cursor?: string | undefined },
    ): Promise<{ memories: Memory[]; nextCursor: string | null }> {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      // One more than asked for tells whether there is a next page.
      const ids = await store.use(accountId, ({ table }) => table.list(filter, after, limit + 1));
      const rows = await findInOrder(accountId, ids.slice(0, limit));
      const last = rows.at(-1);
      return {
        memories: rows.map(toMemory),
        nextCursor: last && ids.length > limit ? encodeCursor(last) : null,
      };
    },

    /** All memories, the oldest first, to be moved elsewhere; see `ExportMemories`. */
    export: createExport(store),

    /** Brings in memories from elsewhere; see `importMemories`. */
    import: (accountId: string, lines: AsyncIterable<ImportLine>, options: ImportOptions) =>
      importMemories({ store, clock }, accountId, lines, options),

    /** A memory by its id; `null` when it isn't there. */
    async find(accountId: string, id: string): Promise<Memory | null> {
      const [row] = MEMORY_ID.test(id) ? await findInOrder(accountId, [id]) : [];
      return row ? toMemory(row) : null;
    },

    /** @throws AppError `memory_not_found` */
    async get(accountId: string, id: string): Promise<Memory> {
      const memory = await this.find(accountId, id);
      if (!memory) throw notFound(id);
      return memory;
    },

    /** What is left of a memory at its age, 0 to 1. */
    retention: ({ updated_at, importance }: Memory): number =>
      retention(clock() - Date.parse(updated_at), importance, decay),

    /** What an account has, in figures. */
    async stats(accountId: string): Promise<Stats> {
      const figures = await store.use(accountId, ({ table }) => survey(table));
      return { ...figures, bytes: await store.bytes(accountId) };
    },

    /** Bytes on disk of an account's memories. */
    bytes: (accountId: string): Promise<number> => store.bytes(accountId),

    /**
     * Changes the fields that are given.
     * @param source what changes it: recorded when the content changes
     * @param isExpected is asked about the memory, also as it is right before the change
     * @throws AppError `memory_not_found`, `validation_failed` for an `expires_at` that has passed, or
     *   `precondition_failed` when `isExpected` says no
     */
    async update(
      accountId: string,
      id: string,
      changes: MemoryChanges,
      change: Changing = {},
    ): Promise<Memory> {
      const { source = null, isExpected = () => true } = change;
      checkExpiry(changes.expires_at, clock(), "expires_at");
      const present = await this.get(accountId, id);
      if (!isExpected(present)) throw hasChanged();
      const content = changes.content;
      // Embedding takes longer than all the rest: it happens before the write's turn, and only
      // when the content changes.
      const used = await embedderOf(accountId);
      const vectors =
        content === undefined || content === present.content
          ? null
          : await used.embedContent(content);

      const updated = await store.use(accountId, async ({ writer, embedder }) => {
        if (vectors && embedder !== used) return null;
        return await writer.change({
          ids: [id],
          withVectors: vectors === null,
          apply(draft) {
            const current = draft.get(id);
            if (!current) throw notFound(id);
            if (!isExpected(toMemory(current))) throw hasChanged();
            // Another write may have changed the content between: then its vectors are not these.
            if (content !== undefined && content !== current.content && !vectors) return null;
            const own = vectors ?? draft.vectorsOf(id);
            const next = changeMemory(current, changes, own, source, clock());
            draft.put(next);
            return next;
          },
        });
      });
      return updated ? toMemory(updated) : this.update(accountId, id, changes, change);
    },

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

/** @throws AppError `validation_failed` for a time that has passed */
function checkExpiry(instant: string | null | undefined, now: number, path: string): void {
  const time = toTime(instant);
  if (time === null || time > now) return;
  const message = "must be in the future";
  throw new AppError("validation_failed", `${path} ${message}.`, {
    details: [{ path: `/${path}`, message }],
  });
}

function notFound(id: string) {
  // What a client sent is repeated to it only where it has the shape of an id.
  const which = MEMORY_ID.test(id) ? `id ${id}` : "this id";
  return new AppError("memory_not_found", `No memory with ${which} in this account.`);
}

function hasChanged() {
  return new AppError(
    "precondition_failed",
    "The memory has changed since. Read it again, then decide.",
  );
}
