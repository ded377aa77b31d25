import { isDeepStrictEqual } from "node:util";
import { errorCode } from "../errors.ts";
import { createCheck } from "../http/requests/validation.ts";
import { type Bound, type Reach, wholeAccount } from "../keys/reach.ts";
import { type Memory, MemoryChanges } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

/** A change of several memories at once. */
export type Change = {
  ids: readonly string[];
} /** With `keep` only while that memory is unchanged. */ & (
  | { kind: "delete"; keep?: string | undefined }
  | { kind: "tag" | "untag"; tag: string }
  | { kind: "move"; project: string | null }
  | { kind: "set"; fields: Pick<MemoryChanges, "pinned" | "importance" | "expires_at"> }
  /** The memories are superseded by a saved one. */
  | { kind: "supersede"; keep: string }
  /** What tidying does, limited to what its caller reaches and to memories unchanged since `at`, in milliseconds since 1970. */
  | { kind: "tidy"; bound: Bound | null; at: number; parts: readonly TidyPart[] }
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

/** Applies the parts of tidying. If one fails, the others are applied all the same, and then the error is thrown. */
async function applyParts(
  memories: ChangedMemories,
  reach: Reach,
  { at, parts }: Change & { kind: "tidy" },
): Promise<number> {
  const isUnchanged = async (id: string): Promise<boolean> => {
    try {
      return Date.parse((await memories.get(reach, id)).updated_at) <= at;
    } catch (error) {
      if (errorCode(error) === "memory_not_found") return false;
      throw error;
    }
  };
  let count = 0;
  const errors: unknown[] = [];
  for (const part of parts) {
    try {
      const keep = "keep" in part ? part.keep : undefined;
      if (keep !== undefined && !(await isUnchanged(keep))) continue;
      const ids: string[] = [];
      for (const id of part.ids) if (await isUnchanged(id)) ids.push(id);
      count += await applyWithin(memories, reach, { ...part, ids });
    } catch (error) {
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return count;
}

async function applyWithin(
  memories: ChangedMemories,
  reach: Reach,
  change: Change,
): Promise<number> {
  const { ids } = change;
  if (change.kind === "tidy") {
    return applyParts(memories, { ...reach, bound: change.bound }, change);
  }
  if (change.kind === "supersede") return memories.supersedeThese(reach, change.keep, ids);
  if (change.kind === "delete") return countDone(ids, (id) => memories.remove(reach, id));
  if (change.kind === "move") return memories.moveThese(reach, ids, change.project);
  if (change.kind === "set") {
    return countDone(ids, (id) => memories.update(reach, id, change.fields));
  }
  const { kind } = change;
  // A server of a later version applies it.
  if (kind !== "tag" && kind !== "untag") throw new Error("This version does not know the change.");
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
