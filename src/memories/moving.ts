import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { type Filter, narrows, passes } from "./filter.ts";
import { historyOf } from "./links.ts";
import { MEMORY_ID } from "./memory.ts";
import { projectToWrite, writable } from "./reach.ts";
import type { Store } from "./store.ts";

/** Memories that one change moves: their vectors are in memory for as long. */
const AT_ONCE = 128;

/** How memories get from one project to another, as old as before; see `createMemories`. */
export function createMove({ store, clock }: { store: Pick<Store, "use">; clock: () => number }) {
  /**
   * @param reached a memory that it does not let pass stays
   * @param target `null` for none
   */
  const moveSome = (
    reach: Reach,
    reached: Filter,
    ids: readonly string[],
    target: string | null,
  ): Promise<number> =>
    store.use(reach.accountId, ({ writer }) =>
      writer.change({
        ids,
        withVectors: true,
        apply(draft) {
          let count = 0;
          for (const id of ids) {
            const [memory, embedding] = [draft.get(id), draft.embeddingOf(id)];
            // It may have been changed since it was found.
            if (!memory || !embedding || !passes(reached, memory)) continue;
            if (memory.project === target) continue;
            draft.put({ ...memory, ...embedding, project: target });
            count++;
          }
          return count;
        },
      }),
    );

  const moveAll = async (
    reach: Reach,
    reached: Filter,
    ids: readonly string[],
    target: string | null,
  ): Promise<number> => {
    let moved = 0;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      moved += await moveSome(reach, reached, ids.slice(start, start + AT_ONCE), target);
    }
    return moved;
  };

  return {
    /**
     * Moves all memories that a filter lets pass to a project, and returns how many were moved. When it
     * fails, some are moved: doing it again moves the others.
     * @param project `null` for none
     * @throws AppError `forbidden`, or `validation_failed` for a filter without any condition
     */
    async move(reach: Reach, filter: Filter, project: string | null): Promise<number> {
      if (!narrows(filter)) {
        throw new AppError(
          "validation_failed",
          "Moving everything at once is not possible: give at least one filter.",
        );
      }
      const target = projectToWrite(reach, project);
      const reached = writable(reach, { ...filter, aliveAt: clock() });
      const ids = await store.use(reach.accountId, ({ table }) => table.select(reached));
      return moveAll(reach, reached, ids, target);
    },

    /**
     * The same with memories by their ids, and with their histories; those that aren't there, or may not be
     * changed, stay.
     * @throws AppError `forbidden`
     */
    async moveThese(reach: Reach, ids: readonly string[], project: string | null) {
      const target = projectToWrite(reach, project);
      const wanted = new Set<string>();
      await store.use(reach.accountId, async ({ table }) => {
        const get = async (id: string) => (await table.find([id]))[0] ?? null;
        for (const id of ids) {
          if (!MEMORY_ID.test(id) || wanted.has(id)) continue;
          for (const each of await historyOf(get, id)) wanted.add(each);
        }
      });
      return moveAll(reach, writable(reach, { aliveAt: clock() }), [...wanted], target);
    },
  };
}
