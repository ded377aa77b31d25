import type { Space } from "../accounts/space.ts";
import { AppError } from "../errors.ts";
import { hasScope, inSpace, type Reach, requireScope } from "../keys/reach.ts";
import type { Scope } from "../keys/scopes.ts";
import type { Filter } from "../memories/model/filter.ts";
import type { NewMemory } from "../memories/model/memory.ts";
import type { Memories } from "../memories/rules/memories.ts";

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

    search: (reach, request) => {
      const [, ...others] = reachesOf(reach, request.filter);
      return memories.search(reach, request, others);
    },

    async about(reach, subject) {
      const found = await memories.about(reach, subject);
      const spaces: typeof found.spaces = [];
      for (const space of reach.spaces ?? []) {
        const there = await memories.about(inSpace(reach, space), subject);
        const named = there.memories.filter(({ found_by }) => found_by === "text").length;
        if (named > 0) spaces.push({ space: space.name, memories: named });
      }
      return { ...found, spaces };
    },

    find: async (reach, id) => memories.find(await locate(reach, id), id),

    get: async (reach, id) => memories.get(await locate(reach, id), id),

    history: async (reach, id, page) => memories.history(await locate(reach, id), id, page),

    similar: async (reach, id) => memories.similar(await locate(reach, id), id),

    save: async (reach, input, saving) => memories.save(await placeOf(reach, input), input, saving),

    async saveAll(reach, inputs, saving) {
      const places = await Promise.all(inputs.map((input) => placeOf(reach, input)));
      const [there = reach] = places;
      if (places.some(({ accountId }) => accountId !== there.accountId)) {
        const message =
          "These memories belong to different spaces: save those of each by themselves.";
        throw new AppError("validation_failed", message);
      }
      return await memories.saveAll(there, inputs, saving);
    },

    update: async (reach, id, ...rest) =>
      memories.update(await locateFor(reach, id, "memories:write"), id, ...rest),

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
