import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { checkExpiry, newMemory } from "./change-memory.ts";
import { findDuplicate } from "./duplicate.ts";
import { findReadable } from "./find-by-id.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Answer } from "./log/log.ts";
import type { Memory, MemorySource, NewMemory } from "./memory.ts";
import { keyWithin, projectToWrite } from "./reach.ts";
import { type MemoryRow, toMemory } from "./rows.ts";
import type { Store } from "./store.ts";
import { checkSuperseded, putNew } from "./superseding.ts";

/** How memories are saved. */
interface Saving {
  source?: MemorySource | null;
  idempotencyKey?: string | undefined;
  /** Whether what is there already is not saved once more; see `findDuplicate`. */
  once?: boolean;
}

/** A memory that was asked to be saved. */
interface Made {
  memory: MemoryRow;
  /** Whether it was not there before. */
  isNew: boolean;
}

/** How memories are saved; see `createMemories`. */
export function createSaving({
  store,
  idempotency,
  clock,
}: {
  store: Pick<Store, "use">;
  idempotency: Idempotency;
  clock: () => number;
}) {
  const insert = async (
    reach: Reach,
    inputs: readonly NewMemory[],
    { source = null, once = false }: Saving,
    answer?: (ids: string[]) => Answer,
  ): Promise<Made[]> => {
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
    const told = answer?.(memories.map(({ id }) => id));
    const made = await store.use(reach.accountId, async ({ writer, embedder }) => {
      if (embedder !== used) return null;
      return await writer.change({
        ids: superseded.filter((id) => id != null),
        ...(isSuperseding && { withVectors: true, links: "near" }),
        withTextsOf: once ? memories : [],
        apply(draft) {
          const made = memories.map((memory, place): Made => {
            const duplicate = once ? findDuplicate(draft, memory, now) : null;
            if (duplicate) return { memory: duplicate, isNew: false };
            const superseding = { reach, now, path: pathOf("supersedes")(place) };
            const hasProject = inputs[place]?.project !== undefined;
            return { memory: putNew(draft, memory, { ...superseding, hasProject }), isNew: true };
          });
          if (told) told.memoryIds = made.map(({ memory }) => memory.id);
          return made;
        },
        answer: told,
      });
    });
    return made ?? insert(reach, inputs, { source, once }, answer);
  };

  const create = async (
    reach: Reach,
    inputs: readonly NewMemory[],
    saving: Saving,
  ): Promise<Made[]> => {
    const { idempotencyKey } = saving;
    if (idempotencyKey === undefined) return insert(reach, inputs, saving);
    let made: Made[] = [];
    const key = keyWithin(reach, idempotencyKey);
    const ids = await idempotency.once(reach.accountId, key, inputs, async (answer) => {
      made = await insert(reach, inputs, saving, answer);
      return made.map(({ memory }) => memory.id);
    });
    // Not read again: if that fails, what is there would be told not to be.
    if (made.length > 0) {
      if (made.every(({ isNew }) => isNew)) return made;
      // Another server may have made it for the same request at the same moment.
      const here = await idempotency.made(reach.accountId, key);
      return made.map((one) => ({ ...one, isNew: one.isNew || here.includes(one.memory.id) }));
    }
    const memories = await findReadable(store, reach, ids, clock());
    if (memories.length < ids.length) {
      throw new AppError(
        "conflict",
        "What this Idempotency-Key made has been deleted or has expired since.",
      );
    }
    return memories.map((memory) => ({ memory, isNew: true }));
  };

  return {
    /**
     * Saves memories, all or none.
     * @param source what saves them, as far as it is known
     * @param idempotencyKey the same key within 24 hours returns the memories it made before
     * @throws AppError `validation_failed` for an `expires_at` that has passed, or as `supersededRow`
     */
    create: async (
      reach: Reach,
      inputs: readonly NewMemory[],
      saving: Omit<Saving, "once"> = {},
    ): Promise<Memory[]> =>
      (await create(reach, inputs, saving)).map(({ memory }) => toMemory(memory)),

    /**
     * Saves a memory, as `create`, or gives the one that says exactly the same already.
     * @param mayRead whether it may be told what is there: else it is saved once more
     * @returns it, and whether it is new
     */
    async save(
      reach: Reach,
      input: NewMemory,
      { mayRead = true, ...saving }: Omit<Saving, "once"> & { mayRead?: boolean } = {},
    ): Promise<{ memory: Memory; isNew: boolean }> {
      const [made] = await create(reach, [input], { ...saving, once: mayRead });
      if (!made) throw new Error("saving a memory made none");
      return { ...made, memory: toMemory(made.memory) };
    },
  };
}
