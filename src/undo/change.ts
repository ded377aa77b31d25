import { isDeepStrictEqual } from "node:util";
import { AppError } from "../errors.ts";
import { createCheck } from "../http/requests/validation.ts";
import { wholeAccount } from "../keys/reach.ts";
import { type Memory, MemoryChanges } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

/** A change of several memories at once. */
export type Change = { ids: readonly string[] } & (
  | { kind: "delete" }
  | { kind: "tag" | "untag"; tag: string }
  | { kind: "move"; project: string | null }
);

const checkChanges = createCheck(MemoryChanges);

/** Returns a function that adds the tag to a memory's tags, or removes it. */
export function retagged({ kind, tag }: { kind: "tag" | "untag"; tag: string }) {
  return (tags: readonly string[]): string[] => {
    const others = tags.filter((each) => each !== tag);
    return kind === "tag" ? [...others, tag] : others;
  };
}

type Service = Pick<Memories, "get" | "update" | "remove">;

/** Runs `work` for each memory and counts the memories. Memories that no longer exist do not count. */
async function countDone(ids: readonly string[], work: (id: string) => Promise<unknown>) {
  const outcomes = await Promise.allSettled(ids.map(work));
  for (const outcome of outcomes) {
    if (outcome.status === "rejected" && !isMissing(outcome.reason)) throw outcome.reason;
  }
  return outcomes.filter(({ status }) => status === "fulfilled").length;
}

/** Deletes memories and returns how many existed. */
export function removeSelected(memories: Service, accountId: string, ids: readonly string[]) {
  return countDone(ids, (id) => memories.remove(wholeAccount(accountId), id));
}

/**
 * Changes the tags of memories and returns how many memories existed.
 * @throws AppError `validation_failed` when a memory would have too many tags; the other memories are changed
 */
export function tagSelected(
  memories: Service,
  accountId: string,
  ids: readonly string[],
  change: (tags: readonly string[]) => string[],
) {
  const retag = async (id: string): Promise<void> => {
    const present = await memories.get(wholeAccount(accountId), id);
    const isSame = ({ tags }: Memory) => isDeepStrictEqual(tags, present.tags);
    try {
      const changes = checkChanges({ tags: change(present.tags) });
      await memories.update(wholeAccount(accountId), id, changes, { isExpected: isSame });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "precondition_failed") throw error;
      return retag(id);
    }
  };
  return countDone(ids, retag);
}

function isMissing(error: unknown) {
  return error instanceof AppError && error.code === "memory_not_found";
}
