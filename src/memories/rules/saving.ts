import { embedTogether } from "../../embedding/embedder.ts";
import { AppError } from "../../errors.ts";
import { hasScope, type Reach, requireScope } from "../../keys/reach.ts";
import type { IdempotencyRecord } from "../log/records.ts";
import { checkExpiry, newMemory, storedFields } from "../model/change-memory.ts";
import { passes } from "../model/filter.ts";
import type { Memory, MemorySource, NewMemory } from "../model/memory.ts";
import { mayWrite, projectToWrite, scopedKey } from "../model/reach.ts";
import { embeddingOf, type MemoryRow, type StoredMemory } from "../model/rows.ts";
import type { Draft } from "../table/draft.ts";
import type { Idempotency } from "./idempotency.ts";
import type { SecretWatch } from "./secrets/secret-watch.ts";
import { checkSuperseded, putSuperseding } from "./superseding.ts";
import { findReadable, type Parts, toVisibleMemories, toVisibleMemory } from "./visible.ts";

/**
 * Finds the oldest memory that makes saving another one needless: it has the same text and project, is
 * current, and lasts as long. Captured memories do not count, because nobody chose to keep them.
 * @param now milliseconds since 1970
 */
function findDuplicate(
  draft: Pick<Draft, "withText">,
  { content, project, supersedes, expiresAt, pinned }: MemoryRow,
  now: number,
): MemoryRow | null {
  // A client that names a memory to supersede always creates a new one.
  if (supersedes !== null) return null;
  const lasts = (each: MemoryRow) =>
    (each.pinned || !pinned) &&
    (each.expiresAt === null || (expiresAt !== null && each.expiresAt >= expiresAt));
  const holds = { projects: [project], isCurrent: true, aliveAt: now };
  const duplicates = draft
    .withText(content)
    .filter((each) => passes(holds, each) && lasts(each) && each.source?.via !== "capture");
  return duplicates.toSorted((a, b) => a.createdAt - b.createdAt)[0] ?? null;
}

/**
 * A memory that names what it supersedes, in place of the one that the client saved before it knew that: the one with the same
 * text and project that is in no history. It keeps its id, its time, and the fields that the client does not give
 * again. Without such a memory the new one is returned.
 * @param given the fields of the request
 */
function mergeWithTwin(
  draft: Pick<Draft, "get" | "withText">,
  memory: StoredMemory,
  given: Partial<NewMemory> | undefined,
  reach: Reach,
): StoredMemory {
  const { supersedes, content } = memory;
  if (supersedes === null) return memory;
  // Without a project in the request it gets that of the superseded memory.
  const project =
    given?.project === undefined ? (draft.get(supersedes)?.project ?? null) : memory.project;
  const isTwin = (each: MemoryRow) =>
    each.id !== supersedes &&
    each.supersedes === null &&
    each.supersededBy === null &&
    each.project === project &&
    each.source?.via !== "capture" &&
    mayWrite(reach, each);
  const [twin] = draft
    .withText(content)
    .filter(isTwin)
    .sort((a, b) => b.createdAt - a.createdAt);
  if (!twin) return memory;
  const { agentId, sessionId, source, updatedAt } = memory;
  return {
    ...twin,
    ...storedFields(given ?? {}),
    ...{ content, supersedes, project: memory.project },
    ...{ agentId, sessionId, source, updatedAt },
    ...embeddingOf(memory),
  };
}

/** Options of saving. */
interface Saving {
  /** The credential that saves, as far as it is known. */
  source?: MemorySource | null;
  /** The same key within 24 hours returns the memories of the first call. */
  idempotencyKey?: string | undefined;
}

interface SavingParts extends Parts {
  idempotency: Idempotency;
  secrets: Pick<SecretWatch, "refuseFromAgents">;
}

/** A saved memory, or the one that made saving it needless. */
interface Saved {
  memory: MemoryRow;
  /** Whether it is new. */
  isNew: boolean;
}

/**
 * Embeds and writes memories, all or none.
 * @param withoutDuplicates whether a duplicate is returned instead; see `findDuplicate`
 * @param answer makes the record of a request with an `Idempotency-Key`
 */
async function write(
  { store, clock }: Parts,
  reach: Reach,
  inputs: readonly NewMemory[],
  { source, withoutDuplicates }: { source: MemorySource | null; withoutDuplicates: boolean },
  answer?: (ids: string[]) => IdempotencyRecord,
): Promise<Saved[]> {
  const wanted = inputs.map((input) => ({
    ...input,
    project: projectToWrite(reach, input.project),
  }));
  const pathOf = (place: number, field = "supersedes") =>
    inputs.length > 1 ? `memories/${place}/${field}` : field;
  for (const [place, input] of inputs.entries()) {
    checkExpiry(input.expires_at, clock(), pathOf(place, "expires_at"));
  }
  const superseded = inputs.map(({ supersedes }) => supersedes);
  // Checked before embedding, which takes longest; the commit checks again.
  const bytes = inputs.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  const growth = { memories: inputs.length, bytes };
  const firstEmbedder = await store.use(reach.accountId, async ({ table, writer, embedder }) => {
    await writer.checkRoom(growth);
    await checkSuperseded(table.find, superseded, { reach, now: clock(), pathOf });
    return embedder;
  });
  const embedded = await embedTogether(reach, (caller) =>
    Promise.all(
      wanted.map(async (input) => {
        return { input, embedding: await firstEmbedder.embedContent(input.content, caller) };
      }),
    ),
  );
  const now = clock();
  const memories = embedded.map(({ input, embedding }) => newMemory(input, embedding, source, now));
  const ids = superseded.filter((id) => id != null);
  const recorded = answer?.(memories.map((memory) => memory.id));
  const made = await store.use(reach.accountId, async ({ writer, embedder }) => {
    if (embedder !== firstEmbedder) return null;
    return await writer.change({
      ids,
      ...(ids.length > 0 && { withVectors: true, links: "near" }),
      withTextsOf: withoutDuplicates ? memories : [],
      apply(draft) {
        const saved = memories.map((memory, place): Saved => {
          const duplicate = withoutDuplicates ? findDuplicate(draft, memory, now) : null;
          if (duplicate) return { memory: duplicate, isNew: false };
          const given = inputs[place];
          const merged = withoutDuplicates ? mergeWithTwin(draft, memory, given, reach) : memory;
          const hasProject = given?.project !== undefined;
          const superseding = { reach, now, path: pathOf(place), hasProject };
          return { memory: putSuperseding(draft, merged, superseding), isNew: true };
        });
        if (recorded) recorded.memoryIds = saved.map(({ memory }) => memory.id);
        return saved;
      },
      answer: recorded,
    });
  });
  const saving = { source, withoutDuplicates };
  return made ?? write({ store, clock }, reach, inputs, saving, answer);
}

/** Saving memories; see `createMemories`. */
export function createSaving({ idempotency, secrets, ...parts }: SavingParts) {
  const { store, clock } = parts;
  const saveOnce = async (
    reach: Reach,
    inputs: readonly NewMemory[],
    { source = null, idempotencyKey }: Saving,
    withoutDuplicates: boolean,
  ): Promise<Saved[]> => {
    if (inputs.some(({ supersedes }) => supersedes)) requireScope(reach, "memories:write");
    for (const input of inputs) secrets.refuseFromAgents(source, input);
    const saving = { source, withoutDuplicates };
    if (idempotencyKey === undefined) return write(parts, reach, inputs, saving);
    let made: Saved[] = [];
    const key = scopedKey(reach, idempotencyKey);
    const ids = await idempotency.once(reach.accountId, key, inputs, async (answer) => {
      made = await write(parts, reach, inputs, saving, answer);
      return made.map(({ memory }) => memory.id);
    });
    // Not read again: if reading failed, the client would not learn that the memories are saved.
    if (made.length > 0) {
      if (made.every(({ isNew }) => isNew)) return made;
      // Another server may have saved them for the same request meanwhile.
      const here = await idempotency.savedWith(reach.accountId, key);
      return made.map((one) => ({ ...one, isNew: one.isNew || here.includes(one.memory.id) }));
    }
    const memories = await findReadable(store, reach, ids, clock());
    if (memories.length < ids.length) {
      throw new AppError(
        "conflict",
        "The memories that were saved with this Idempotency-Key have been deleted or have expired since.",
      );
    }
    return memories.map((memory) => ({ memory, isNew: true }));
  };

  const toVisible = async (reach: Reach, saved: readonly Saved[]): Promise<Memory[]> => {
    const rows = saved.map(({ memory }) => memory);
    const unread = rows.map((row) => toVisibleMemory(reach, row, () => null));
    if (!reach.bound) return unread;
    // What is saved is answered, even if the memories that it is linked with can't be read.
    const read = store.use(reach.accountId, ({ table }) => toVisibleMemories(table, reach, rows));
    return await read.catch(() => unread);
  };

  return {
    /**
     * Saves memories, all or none.
     * @throws AppError `validation_failed` for an `expires_at` that has passed or an agent's secret, `forbidden` for
     *   superseding without the scope to change memories, or as `supersededRow`
     */
    saveAll: async (
      reach: Reach,
      inputs: readonly NewMemory[],
      saving: Saving = {},
    ): Promise<Memory[]> => toVisible(reach, await saveOnce(reach, inputs, saving, false)),

    /**
     * Saves a memory like `saveAll`, or returns the one with exactly the same text to callers that may read it.
     * @returns the memory, whether it is new, and the number of turns that it names as distilled
     */
    async save(
      reach: Reach,
      input: NewMemory,
      saving: Saving = {},
    ): Promise<{ memory: Memory; isNew: boolean; distilled?: number | null }> {
      const made = await saveOnce(reach, [input], saving, hasScope(reach, "memories:read"));
      const [memory] = await toVisible(reach, made);
      if (!made[0] || !memory) throw new Error("saving a memory made none");
      return { isNew: made[0].isNew, memory };
    },
  };
}
