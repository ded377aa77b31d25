import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import type { Draft } from "./draft.ts";
import { type Filter, narrows, passes } from "./filter.ts";
import { chainIn, historyOf, linksOf } from "./links.ts";
import { MEMORY_ID } from "./memory.ts";
import { projectToWrite, writable } from "./reach.ts";
import type { MemoryRow } from "./rows.ts";
import type { Store } from "./store.ts";
import type { TableReader } from "./table.ts";

/** Memories that one change moves, without their histories: their vectors are in memory for as long. */
const AT_ONCE = 128;

interface Move {
  reach: Reach;
  /** What it lets pass is moved, with its history. */
  wanted: Filter;
  /** What is not let pass stays, though it is in such a history. */
  reached: Filter;
  /** `null` for none. */
  target: string | null;
}

/**
 * How memories get from one project to another, with their histories and as old as before; see
 * `createMemories`.
 */
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
            // It may have been changed since it was found, or moved with another one.
            if (!memory || !passes(wanted, memory)) continue;
            for (const each of chainIn(draft, id)) count += put(draft, each, move);
          }
          return count;
        },
      }),
    );

  const moveAll = async (ids: readonly string[], move: Move): Promise<number> => {
    let moved = 0;
    for (let start = 0; start < ids.length; start += AT_ONCE) {
      moved += await moveSome(ids.slice(start, start + AT_ONCE), move);
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
      const reached = writable(reach, { aliveAt: clock() });
      const wanted = writable(reach, { ...filter, aliveAt: clock() });
      const ids = await store.use(reach.accountId, ({ table }) => table.select(wanted));
      return moveAll(ids, { reach, wanted, reached, target });
    },

    /**
     * The same with memories by their ids; those that aren't there, or may not be changed, stay.
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

/** @returns how many were moved: 1 or none */
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

/** Ids with those of all that is in their histories. */
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
