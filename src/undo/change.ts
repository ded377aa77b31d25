import { isDeepStrictEqual } from "node:util";
import { errorCode } from "../errors.ts";
import { createCheck } from "../http/requests/validation.ts";
import { type Bound, type Reach, wholeAccount } from "../keys/reach.ts";
import { type Memory, MemoryChanges } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

/** A change of several memories at once. */
export type Change = { ids: readonly string[] } & (
  | { kind: "delete" }
  | { kind: "tag" | "untag"; tag: string }
  | { kind: "move"; project: string | null }
  | { kind: "set"; fields: Pick<MemoryChanges, "pinned" | "importance" | "expires_at"> }
  /** The memories are superseded by a saved one. */
  | { kind: "supersede"; keep: string }
  /** What tidying does, limited to what its caller reaches. */
  | { kind: "tidy"; bound: Bound | null; parts: readonly TidyPart[] }
);

/** A change that tidying makes. */
export type TidyPart = Change & { kind: "delete" | "move" | "set" | "supersede" };

const checkChanges = createCheck(MemoryChanges);

/** What changes need of the memories. */
export type ChangedMemories = Pick<
  Memories,
  "get" | "moveThese" | "remove" | "supersedeThese" | "update"
>;

/** Returns a function that adds the tag to a memory's tags, or removes it. */
export function retagged({ kind, tag }: { kind: "tag" | "untag"; tag: string }) {
  return (tags: readonly string[]): string[] => {
    const others = tags.filter((each) => each !== tag);
    return kind === "tag" ? [...others, tag] : others;
  };
}

/** Runs `work` for each memory and counts the memories. Memories that no longer exist do not count. */
async function countDone(ids: readonly string[], work: (id: string) => Promise<unknown>) {
  const outcomes = await Promise.allSettled(ids.map(work));
  for (const outcome of outcomes) {
    const isLost =
      outcome.status === "rejected" && errorCode(outcome.reason) !== "memory_not_found";
    if (isLost) throw outcome.reason;
  }
  return outcomes.filter(({ status }) => status === "fulfilled").length;
}

/**
 * Applies a change, and returns how many of the memories existed.
 * @throws AppError `validation_failed` when a memory would have too many tags; the other memories are changed
 */
export function applyChange(
  memories: ChangedMemories,
  accountId: string,
  change: Change,
): Promise<number> {
  return applyWithin(memories, wholeAccount(accountId), change);
}

async function applyWithin(
  memories: ChangedMemories,
  reach: Reach,
  change: Change,
): Promise<number> {
  const { ids } = change;
  if (change.kind === "tidy") {
    const within = { ...reach, bound: change.bound };
    let count = 0;
    for (const part of change.parts) count += await applyWithin(memories, within, part);
    return count;
  }
  if (change.kind === "supersede") return memories.supersedeThese(reach, change.keep, ids);
  if (change.kind === "delete") return countDone(ids, (id) => memories.remove(reach, id));
  if (change.kind === "move") return memories.moveThese(reach, ids, change.project);
  if (change.kind === "set") {
    return countDone(ids, (id) => memories.update(reach, id, change.fields));
  }
  const newTags = retagged(change);
  const retag = async (id: string): Promise<void> => {
    const { tags } = await memories.get(reach, id);
    const isExpected = (memory: Memory) => isDeepStrictEqual(memory.tags, tags);
    const changes = checkChanges({ tags: newTags(tags) });
    try {
      await memories.update(reach, id, changes, { isExpected });
    } catch (error) {
      if (errorCode(error) !== "precondition_failed") throw error;
      return retag(id);
    }
  };
  return countDone(ids, retag);
}
