import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { changeMemory, checkExpiry } from "../model/change-memory.ts";
import type { Memory, MemoryChanges, MemorySource } from "../model/memory.ts";
import { checkMayWrite, mayRead, projectToWrite } from "../model/reach.ts";
import type { Store } from "../store/store.ts";
import { toAnswer } from "./answer.ts";
import { notFound } from "./find-by-id.ts";
import type { Reading } from "./reading.ts";

/** Options of a change. */
interface Changing {
  source?: MemorySource | null;
  isExpected?: (memory: Memory) => boolean;
}

/** Changing memories; see `createMemories`. */
export function createUpdate({
  store,
  clock,
  get,
}: {
  store: Pick<Store, "use">;
  clock: () => number;
  get: Reading["get"];
}) {
  /**
   * Changes the given fields.
   * @param source the credential that changes it; recorded if the content changes
   * @param isExpected is called with the memory, and again right before the change
   * @throws AppError `memory_not_found`, `validation_failed` for an `expires_at` that has passed, or
   *   `precondition_failed` if `isExpected` returns false
   */
  const update = async (
    reach: Reach,
    id: string,
    changes: MemoryChanges,
    change: Changing = {},
  ): Promise<Memory> => {
    const { source = null, isExpected = () => true } = change;
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
          if (!isExpected(toAnswer(reach, current, draft.get))) throw hasChanged();
          // Another write may have changed the content meanwhile. Then the stored vectors don't belong to
          // the wanted content.
          if (content !== undefined && content !== current.content && !embedding) return null;
          const own = embedding ?? draft.embeddingOf(id);
          if (!own) throw new Error("a memory was not loaded with its vectors");
          const next = changeMemory(current, changes, own, source, clock());
          draft.put(next);
          return toAnswer(reach, next, draft.get);
        },
      });
    });
    return updated ?? update(reach, id, changes, change);
  };

  return update;
}

function hasChanged() {
  return new AppError(
    "precondition_failed",
    "The memory has changed since. Read it again, then decide.",
  );
}
