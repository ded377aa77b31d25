import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { changeMemory, checkExpiry } from "../model/change-memory.ts";
import { type Filter, passes } from "../model/filter.ts";
import { MEMORY_ID, type Memory, type MemoryChanges, type MemorySource } from "../model/memory.ts";
import {
  checkMayWrite,
  mayRead,
  mayWrite,
  projectToWrite,
  readable,
  writable,
} from "../model/reach.ts";
import { chainIn, removeLinked } from "../table/links.ts";
import type { Reading } from "./reading.ts";
import type { SecretWatch } from "./secrets/secret-watch.ts";
import { notFound, type Parts, requireCondition, toVisibleMemory } from "./visible.ts";

/** Options of a change. */
interface Changing {
  source?: MemorySource | null;
  isExpected?: (memory: Memory) => boolean;
}

/** Changing and removing memories; see `createMemories`. */
export function createWriting({
  store,
  clock,
  get,
  secrets,
}: Parts & { get: Reading["get"]; secrets: Pick<SecretWatch, "refuseFromAgents"> }) {
  /**
   * Changes the given fields.
   * @param source the credential that changes it; recorded if the content changes
   * @param isExpected is called with the memory, and again right before the change
   * @throws AppError `memory_not_found`, `validation_failed` for an `expires_at` that has passed or an agent's
   *   secret, or `precondition_failed` if `isExpected` returns false
   */
  const update = async (
    reach: Reach,
    id: string,
    changes: MemoryChanges,
    change: Changing = {},
  ): Promise<Memory> => {
    const { source = null, isExpected = () => true } = change;
    secrets.refuseFromAgents(source, changes);
    checkExpiry(changes.expires_at, clock(), "expires_at");
    if (changes.project !== undefined) projectToWrite(reach, changes.project);
    const present = await get(reach, id);
    if (!isExpected(present)) throw hasChanged();
    const content = changes.content;
    // Embedding takes longer than the rest. It happens before the write's turn, and only if the content
    // changes.
    const used = await store.use(reach.accountId, async ({ embedder }) => embedder);
    const embedding =
      content === undefined || content === present.content
        ? null
        : await used.embedContent(content, reach);

    const updated = await store.use(reach.accountId, async ({ writer, embedder }) => {
      if (embedding && embedder !== used) return null;
      return await writer.change({
        ids: [id],
        withVectors: embedding === null,
        ...(reach.bound && { links: "near" }),
        apply(draft) {
          const current = draft.get(id);
          if (!current || !mayRead(reach, current)) throw notFound(id);
          checkMayWrite(reach, current);
          if (!isExpected(toVisibleMemory(reach, current, draft.get))) throw hasChanged();
          // Another write may have changed the content meanwhile. Then the stored vectors don't belong to
          // the wanted content.
          if (content !== undefined && content !== current.content && !embedding) return null;
          const own = embedding ?? draft.embeddingOf(id);
          if (!own) throw new Error("a memory was not loaded with its vectors");
          const next = changeMemory(current, changes, own, source, clock());
          draft.put(next);
          return toVisibleMemory(reach, next, draft.get);
        },
      });
    });
    return updated ?? update(reach, id, changes, change);
  };

  return {
    update,

    /**
     * Removes a memory. The memory that it superseded is then superseded by the one that superseded it.
     * @param withHistory removes its whole history
     * @returns the number of removed memories
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
            const history = withHistory ? chainIn(draft, id) : [current];
            const removed = history.filter((memory) => mayRead(reach, memory));
            for (const memory of removed) checkMayWrite(reach, memory);
            const ids = removed.map((memory) => memory.id);
            removeLinked(draft, ids, (memory) => mayWrite(reach, memory));
            return ids.length;
          },
        }),
      );
    },

    /**
     * Removes all memories that match a filter, and returns their number.
     * @throws AppError `validation_failed` for a filter without a condition
     */
    async removeMatching(reach: Reach, filter: Filter): Promise<number> {
      requireCondition(filter, "Deleting");
      const reached = writable(reach, { ...filter, aliveAt: clock() });
      return store.use(reach.accountId, ({ writer }) =>
        writer.removeMatching(reached, (memory) => mayWrite(reach, memory)),
      );
    },
  };
}

function hasChanged() {
  return new AppError(
    "precondition_failed",
    "The memory has changed since. Read it again, then decide.",
  );
}
