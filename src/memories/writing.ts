import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { checkExpiry, newMemory } from "./change-memory.ts";
import { type Filter, narrows, passes } from "./filter.ts";
import type { Idempotency } from "./idempotency.ts";
import { type ImportLine, type ImportOptions, importMemories } from "./import.ts";
import { chainIn, removeLinked } from "./links.ts";
import type { Answer } from "./log/log.ts";
import { MEMORY_ID, type Memory, type MemorySource, type NewMemory } from "./memory.ts";
import { createMove } from "./moving.ts";
import { checkMayWrite, keyWithin, projectToWrite, readable, writable } from "./reach.ts";
import { findInOrder, notFound, type Reading } from "./reading.ts";
import { type StoredMemory, toMemory } from "./rows.ts";
import type { Store } from "./store.ts";
import { checkSuperseded, putNew } from "./superseding.ts";
import { createUpdate } from "./updating.ts";

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
    reach: Reach,
    inputs: readonly NewMemory[],
    source: MemorySource | null,
    answer?: (ids: string[]) => Answer,
  ): Promise<StoredMemory[]> => {
    const wanted = inputs.map((input) => ({
      ...input,
      project: projectToWrite(reach, input.project),
    }));
    const pathOf = (field: string) => (place: number) =>
      inputs.length > 1 ? `memories/${place}/${field}` : field;
    for (const [place, input] of wanted.entries()) {
      checkExpiry(input.expires_at, clock(), pathOf("expires_at")(place));
    }
    const superseded = inputs.map(({ supersedes }) => supersedes);
    const isSuperseding = superseded.some((id) => id != null);
    // Before the work is done in vain.
    const bytes = inputs.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
    const growth = { memories: inputs.length, bytes };
    const used = await store.use(reach.accountId, async ({ table, writer, embedder }) => {
      await writer.checkRoom(growth);
      const moment = { reach, now: clock(), pathOf: pathOf("supersedes") };
      await checkSuperseded(table.find, superseded, moment);
      return embedder;
    });
    const embedded = await Promise.all(
      wanted.map(async (input) => ({ input, embedding: await used.embedContent(input.content) })),
    );
    const now = clock();
    const memories = embedded.map(({ input, embedding }) =>
      newMemory(input, embedding, source, now),
    );
    const made = await store.use(reach.accountId, async ({ writer, embedder }) => {
      if (embedder !== used) return null;
      return await writer.change({
        ids: superseded.filter((id) => id != null),
        ...(isSuperseding && { withVectors: true, links: "near" }),
        apply: (draft) =>
          memories.map((memory, place) =>
            putNew(draft, memory, {
              ...{ reach, now, path: pathOf("supersedes")(place) },
              hasProject: inputs[place]?.project !== undefined,
            }),
          ),
        answer: answer?.(memories.map(({ id }) => id)),
      });
    });
    return made ?? insert(reach, inputs, source, answer);
  };

  return {
    /**
     * Saves memories, all or none.
     * @param source what saves them, as far as it is known
     * @param idempotencyKey the same key within 24 hours returns the memories it made before
     * @throws AppError `validation_failed` for an `expires_at` that has passed, or as `supersededRow`
     */
    async create(
      reach: Reach,
      inputs: readonly NewMemory[],
      { source = null, idempotencyKey }: Saving = {},
    ): Promise<Memory[]> {
      if (idempotencyKey === undefined) {
        return (await insert(reach, inputs, source)).map(toMemory);
      }
      let made: StoredMemory[] = [];
      const ids = await idempotency.once(
        reach.accountId,
        keyWithin(reach, idempotencyKey),
        inputs,
        async (answer) => {
          made = await insert(reach, inputs, source, answer);
          return made.map(({ id }) => id);
        },
      );
      // Not read again: if that fails, what is there would be told not to be.
      if (made.length > 0) return made.map(toMemory);
      const memories = await findInOrder(store, reach, ids, clock());
      if (memories.length < ids.length) {
        throw new AppError(
          "conflict",
          "What this Idempotency-Key made has been deleted or has expired since.",
        );
      }
      return memories.map(toMemory);
    },

    /** Brings in memories from elsewhere; see `importMemories`. */
    import: (reach: Reach, lines: AsyncIterable<ImportLine>, options: ImportOptions) =>
      importMemories({ store, clock }, reach, lines, options),

    update: createUpdate({ store, clock, get }),

    /** Moves memories to another project; see `createMove`. */
    move: createMove({ store, clock }),

    /**
     * Removes a memory; what it superseded is then followed by what superseded it.
     * @param withHistory removes all of its history too
     * @returns how many memories that were
     * @throws AppError `memory_not_found`
     */
    async remove(reach: Reach, id: string, withHistory = false): Promise<number> {
      if (!MEMORY_ID.test(id)) throw notFound(id);
      return await store.use(reach.accountId, ({ writer }) =>
        writer.change({
          ids: [id],
          links: withHistory ? "chain" : "near",
          apply(draft) {
            const current = draft.get(id);
            const visible = readable(reach, { aliveAt: clock() });
            if (!current || !passes(visible, current)) throw notFound(id);
            const removed = withHistory ? chainIn(draft, id) : [current];
            for (const memory of removed) checkMayWrite(reach, memory);
            const ids = removed.map((memory) => memory.id);
            removeLinked(draft, ids);
            return ids.length;
          },
        }),
      );
    },

    /**
     * Removes all memories that a filter lets pass, and returns how many there were.
     * @throws AppError `validation_failed` for a filter without any condition
     */
    async removeMatching(reach: Reach, filter: Filter): Promise<number> {
      if (!narrows(filter)) {
        throw new AppError(
          "validation_failed",
          "Deleting everything at once is not possible: give at least one filter.",
        );
      }
      const reached = writable(reach, { ...filter, aliveAt: clock() });
      return store.use(reach.accountId, ({ writer }) => writer.removeMatching(reached));
    },
  };
}
