import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import type { Draft } from "./draft.ts";
import { type Filter, hasCondition, passes } from "./filter.ts";
import { chainIn, historyOf, linksOf } from "./links.ts";
import { MEMORY_ID } from "./memory.ts";
import { projectToWrite, writable } from "./reach.ts";
import type { MemoryRow } from "./rows.ts";
import type { Store } from "./store.ts";
import type { TableReader } from "./table.ts";

/** Memories that one change moves, besides their histories: all their vectors are in memory meanwhile. */
const BATCH = 128;

interface Move {
  reach: Reach;
  /** Memories that match are moved, with their histories. */
  wanted: Filter;
  /** Memories of such a history that don't match this stay. */
  reached: Filter;
  /** The project to move to; `null` for none. */
  target: string | null;
}

/** Moving memories and their histories to another project. Their times stay the same. */
export function createMove({ store, clock }: { store: Pick<Store, "use">; clock: () => number }) {
  const moveSome = (ids: readonly string[], { reach, wanted, ...move }: Move): Promise<number> =>
    store.use(reach.accountId, async ({ table, writer }) =>
      writer.change({
        ids: await withHistories(table, ids),
        withVectors: true,
        apply(draft) {
          let count = 0;
          for (const id of ids) {
            const memory = draft.get(id);
            // Since the selection it may have been changed, or moved with another memory.
            if (!memory || !passes(wanted, memory)) continue;
            for (const each of chainIn(draft, id)) count += put(draft, each, move);
          }
          return count;
        },
      }),
    );

  const moveAll = async (ids: readonly string[], move: Move): Promise<number> => {
    let moved = 0;
    for (let start = 0; start < ids.length; start += BATCH) {
      moved += await moveSome(ids.slice(start, start + BATCH), move);
    }
    return moved;
  };

  return {
    /**
     * Moves all memories that match a filter to a project, and returns how many were moved. If it fails,
     * some are moved; calling it again moves the rest.
     * @param project `null` for none
     * @throws AppError `forbidden`, or `validation_failed` for a filter without a condition
     */
    async move(reach: Reach, filter: Filter, project: string | null): Promise<number> {
      if (!hasCondition(filter)) {
        throw new AppError(
          "validation_failed",
          "Moving everything at once is not possible: give at least one filter.",
        );
      }
      const target = projectToWrite(reach, project);
      const reached = writable(reach, { aliveAt: clock() });
      const wanted = writable(reach, { ...filter, aliveAt: clock() });
      const ids = await store.use(reach.accountId, ({ table }) => table.select(wanted));
      return moveAll(ids, { reach, wanted, reached, target });
    },

    /**
     * Moves memories by id. Missing ones, and those that the caller may not change, are left out.
     * @throws AppError `forbidden`
     */
    async moveThese(reach: Reach, ids: readonly string[], project: string | null) {
      const target = projectToWrite(reach, project);
      const reached = writable(reach, { aliveAt: clock() });
      const possible = [...new Set(ids.filter((id) => MEMORY_ID.test(id)))];
      return moveAll(possible, { reach, wanted: reached, reached, target });
    },
  };
}

/** @returns the number of moved memories: 1 or 0 */
function put(
  draft: Draft,
  memory: MemoryRow,
  { reached, target }: Pick<Move, "reached" | "target">,
): number {
  const embedding = draft.embeddingOf(memory.id);
  if (!embedding || memory.project === target || !passes(reached, memory)) return 0;
  draft.put({ ...memory, ...embedding, project: target });
  return 1;
}

/** The ids, and those of all memories in their histories. */
async function withHistories(table: TableReader, ids: readonly string[]): Promise<string[]> {
  const all = new Set(ids);
  const get = async (id: string) => (await table.find([id]))[0] ?? null;
  for (const row of await table.find(ids)) {
    if (linksOf(row).some((id) => !all.has(id))) {
      for (const id of await historyOf(get, row.id)) all.add(id);
    }
  }
  return [...all];
}
