import type { Space } from "../accounts/space.ts";
import { AppError } from "../errors.ts";
import { hasScope, inSpace, type Reach, requireScope } from "../keys/reach.ts";
import type { Scope } from "../keys/scopes.ts";
import type { Filter } from "../memories/model/filter.ts";
import type { FoundMemory } from "../memories/model/found-memory.ts";
import type { Memory, NewMemory } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

type Found = Awaited<ReturnType<Memories["search"]>>;

/**
 * Wraps the memories for people who are members of spaces. A search looks into the spaces that matter too, a call with an
 * id finds the memory where it is, and what is saved for a project that lives in a space goes there. Lists, counts,
 * imports, exports and deletions by filter are of the one account that the caller has chosen. For callers without a space
 * nothing changes.
 */
export function withSpaces(memories: Memories): Memories {
  /** Where a memory is, for a caller who may know it; the caller's own account if it is nowhere. */
  const locate = async <Caller extends Reach>(reach: Caller, id: string): Promise<Caller> => {
    const { spaces = [] } = reach;
    if (spaces.length === 0 || (await memories.find(reach, id))) return reach;
    for (const space of spaces) {
      const there = inSpace(reach, space);
      if (hasScope(there, "memories:read") && (await memories.find(there, id))) return there;
    }
    return reach;
  };

  /** The same for a change, which the caller's role must allow. */
  const locateFor = async <Caller extends Reach>(
    reach: Caller,
    id: string,
    scope: Scope,
  ): Promise<Caller> => {
    const there = await locate(reach, id);
    if (there !== reach) requireScope(there, scope);
    return there;
  };

  /** Where a new memory belongs. */
  const placeOf = async <Caller extends Reach>(
    reach: Caller,
    { project, supersedes }: NewMemory,
  ): Promise<Caller> => {
    const { spaces = [], bound } = reach;
    if (spaces.length === 0) return reach;
    // A history is in one account.
    if (supersedes) return await locateFor(reach, supersedes, "memories:add");
    const space = spaces.find(
      (each) => each.role !== "read" && livesIn(each, bound?.project ?? project),
    );
    return space ? inSpace(reach, space) : reach;
  };

  return {
    ...memories,

    async search(reach, request) {
      const answers = await Promise.all(
        reachesOf(reach, request.filter).map(async (each) => {
          const found = await memories.search(each, request);
          return { ...found, memories: found.memories.map((memory) => labelled(each, memory)) };
        }),
      );
      return mergeAnswers(answers, request.limit);
    },

    async find(reach, id) {
      const there = await locate(reach, id);
      const memory = await memories.find(there, id);
      return memory && labelled(there, memory);
    },

    async get(reach, id) {
      const there = await locate(reach, id);
      return labelled(there, await memories.get(there, id));
    },

    history: async (reach, id, page) => {
      const there = await locate(reach, id);
      const found = await memories.history(there, id, page);
      return { ...found, memories: found.memories.map((memory) => labelled(there, memory)) };
    },

    similar: async (reach, id) => memories.similar(await locate(reach, id), id),

    async save(reach, input, saving) {
      const there = await placeOf(reach, input);
      const saved = await memories.save(there, input, saving);
      return { ...saved, memory: labelled(there, saved.memory) };
    },

    async saveAll(reach, inputs, saving) {
      const places = await Promise.all(inputs.map((input) => placeOf(reach, input)));
      const [there = reach] = places;
      if (places.some(({ accountId }) => accountId !== there.accountId)) {
        const message =
          "These memories belong to different spaces: save those of each by themselves.";
        throw new AppError("validation_failed", message);
      }
      const saved = await memories.saveAll(there, inputs, saving);
      return saved.map((memory) => labelled(there, memory));
    },

    async update(reach, id, changes, change = {}) {
      const there = await locateFor(reach, id, "memories:write");
      const { isExpected } = change;
      const memory = await memories.update(there, id, changes, {
        ...change,
        ...(isExpected && { isExpected: (present) => isExpected(labelled(there, present)) }),
      });
      return labelled(there, memory);
    },

    remove: async (reach, id, withHistory) =>
      memories.remove(await locateFor(reach, id, "memories:write"), id, withHistory),
  };
}

function livesIn({ projects }: Space, project: string | null | undefined): boolean {
  return project != null && projects.includes(project);
}

/**
 * Where a search looks: into the caller's own account and the spaces in which one of its projects lives, or into all if it
 * names none.
 */
export function reachesOf<Caller extends Reach>(caller: Caller, { projects }: Filter): Caller[] {
  const { spaces = [] } = caller;
  const wanted = spaces.filter(
    (space) => projects === undefined || projects.some((project) => livesIn(space, project)),
  );
  return [caller, ...wanted.map((space) => inSpace(caller, space))];
}

/** A memory with the space that it is in, for callers who know of spaces. */
export function labelled<Known extends Memory>(reach: Reach, memory: Known): Known {
  const { space, spaces = [] } = reach;
  return space !== undefined || spaces.length > 0
    ? { ...memory, space: space?.name ?? null }
    : memory;
}

/** The answers of several accounts as one: each keeps its order, and the best of the next ones comes first. */
function mergeAnswers(answers: readonly Found[], limit: number): Found {
  const [own, ...others] = answers;
  if (!own) throw new Error("a search has no answer");
  if (others.length === 0) return own;
  const next = answers.map(() => 0);
  const merged: FoundMemory[] = [];
  while (merged.length < limit) {
    let best: { memory: FoundMemory; list: number } | null = null;
    for (const [list, { memories }] of answers.entries()) {
      const memory = memories[next[list] ?? 0];
      if (memory && (best === null || memory.score > best.memory.score)) best = { memory, list };
    }
    if (best === null) break;
    merged.push(best.memory);
    next[best.list] = (next[best.list] ?? 0) + 1;
  }
  return {
    memories: merged,
    mode: answers.every(({ mode }) => mode === own.mode) ? own.mode : "keyword",
    period: answers.find(({ period }) => period !== null)?.period ?? null,
  };
}
