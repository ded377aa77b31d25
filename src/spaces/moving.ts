import type { Space } from "../accounts/space.ts";
import { errorCode } from "../errors.ts";
import { inSpace, type Reach, requireScope } from "../keys/reach.ts";
import type { Filter } from "../memories/model/filter.ts";
import { LIMITS, type Memory, type MemorySource } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

/** Memories without a history that are deleted at once. */
const BATCH = 50;

export interface Moved {
  /** Memories that are in the space now, and no longer with the person. */
  moved: number;
  /** Memories that stay: they were changed meanwhile, or the space has a newer version. */
  kept: number;
}

/** The memories of a project that move into a space. Captured turns stay personal, always. */
export function movingFilter(project: string): Filter {
  return { projects: [project], isCaptured: false };
}

/**
 * Moves a person's memories of a project into a space, each with its whole history. All are copied, with their ids and
 * times, before the first one is deleted. So nothing is lost if it stops half-way, and moving again finishes.
 * @param person reaches the person's own memories
 * @param stillAllowed called before each step; it throws to end the move
 * @throws AppError `forbidden` for who may not write in the space, and as `Memories.import`
 */
export async function moveIntoSpace(
  memories: Pick<Memories, "byIds" | "export" | "history" | "import" | "remove">,
  person: Reach,
  space: Space,
  {
    project,
    source,
    stillAllowed,
  }: {
    project: string;
    source: MemorySource;
    stillAllowed: () => Promise<void>;
  },
): Promise<Moved> {
  const there = inSpace(person, space);
  requireScope(there, "memories:write");
  /** When each memory was changed last, as it was copied. Each list is a history, the newest first. */
  const copied: Pick<Memory, "id" | "updated_at">[][] = [];
  const seen = new Set<string>();
  let kept = 0;

  const copy = async (histories: readonly (readonly Memory[])[]): Promise<void> => {
    const lines = histories.flatMap((history) => history.toReversed());
    if (lines.length === 0) return;
    async function* numbered() {
      for (const [index, memory] of lines.entries()) yield { number: index + 1, memory };
    }
    const { skipped } = await memories.import(there, numbered(), {
      ...{ source, dryRun: false, stillAllowed },
    });
    const stays = new Set(skipped.map(({ line }) => lines[line - 1]?.id));
    for (const history of histories) {
      if (history.some(({ id }) => stays.has(id))) kept += history.length;
      else copied.push(history.map(({ id, updated_at }) => ({ id, updated_at })));
    }
  };

  for await (const page of await memories.export(person, movingFilter(project))) {
    const histories: Memory[][] = [];
    for (const memory of page) {
      if (seen.has(memory.id)) continue;
      const history = isLinked(memory) ? await wholeHistory(memories, person, memory) : [memory];
      for (const { id } of history) seen.add(id);
      histories.push(history);
    }
    await copy(histories);
  }

  let moved = 0;
  const remove = async (history: (typeof copied)[number]): Promise<number> => {
    const present = await memories.byIds(
      person,
      history.map(({ id }) => id),
    );
    const isSame = history.every(
      ({ id, updated_at }, place) =>
        present[place]?.id === id && present[place].updated_at === updated_at,
    );
    const [newest] = history;
    if (!isSame || newest === undefined) {
      kept += present.length;
      return 0;
    }
    // A history goes at once: part of one would have other links than its copy.
    try {
      return await memories.remove(person, newest.id, history.length > 1);
    } catch (error) {
      // Another move of the same project was quicker.
      if (errorCode(error) === "memory_not_found") return 0;
      throw error;
    }
  };
  for (let from = 0; from < copied.length; from += BATCH) {
    await stillAllowed();
    for (const removed of await Promise.allSettled(copied.slice(from, from + BATCH).map(remove))) {
      if (removed.status === "rejected") throw removed.reason;
      moved += removed.value;
    }
  }
  return { moved, kept };
}

function isLinked({ supersedes, superseded_by }: Memory): boolean {
  return supersedes !== null || superseded_by !== null;
}

/** A memory with all that it supersedes and that supersede it, the newest first. */
async function wholeHistory(
  memories: Pick<Memories, "history">,
  person: Reach,
  { id }: Memory,
): Promise<Memory[]> {
  const all: Memory[] = [];
  let from: string | undefined;
  do {
    const page = await memories.history(person, id, { limit: LIMITS.page, from });
    all.push(...page.memories);
    from = page.next ?? undefined;
  } while (from !== undefined);
  return all;
}
