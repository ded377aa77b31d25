import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { type Filter, narrows, passes } from "./filter.ts";
import { projectToWrite, writable } from "./reach.ts";
import type { Store } from "./store.ts";

/** Memories that one change moves: their vectors are in memory for as long. */
const AT_ONCE = 128;

/** How memories get from one project to another; see `createMemories`. */
export function createMove({ store, clock }: { store: Pick<Store, "use">; clock: () => number }) {
  /**
   * Moves all memories that a filter lets pass to a project, and returns how many were moved. They are as
   * old as before. When it fails, some are moved: doing it again moves the others.
   * @param project `null` for none
   * @throws AppError `forbidden`, or `validation_failed` for a filter without any condition
   */
  return async (reach: Reach, filter: Filter, project: string | null): Promise<number> => {
    if (!narrows(filter)) {
      throw new AppError(
        "validation_failed",
        "Moving everything at once is not possible: give at least one filter.",
      );
    }
    const target = projectToWrite(reach, project);
    const reached = writable(reach, { ...filter, aliveAt: clock() });

    const moveSome = (ids: readonly string[]) =>
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

    const ids = await store.use(reach.accountId, ({ table }) => table.select(reached));
    let moved = 0;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      moved += await moveSome(ids.slice(start, start + AT_ONCE));
    }
    return moved;
  };
}
