import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { type Filter, passes } from "../model/filter.ts";
import { MEMORY_ID } from "../model/memory.ts";
import { projectToWrite, writable } from "../model/reach.ts";
import { historyOf } from "../table/links.ts";
import type { TableReader } from "../table/table.ts";
import { type Parts, requireCondition } from "./visible.ts";

/**
 * Memories that one change moves at most, and about how many characters of their texts: all their vectors are in memory
 * meanwhile, and others wait for the commit.
 */
const BATCH = 128;
const BATCH_CHARACTERS = 1 << 16;

/** A memory to move, and the selected memory to whose history it belongs: often itself. */
interface Moved {
  id: string;
  selected: string;
}

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
export function createMove({ store, clock }: Parts) {
  const moveSome = (
    group: readonly Moved[],
    { reach, wanted, reached, target }: Move,
  ): Promise<number> =>
    store.use(reach.accountId, async ({ writer }) =>
      writer.change({
        ids: [...new Set(group.flatMap(({ id, selected }) => [id, selected]))],
        withVectors: true,
        apply(draft) {
          let count = 0;
          for (const { id, selected } of group) {
            const [memory, cause] = [draft.get(id), draft.get(selected)];
            const embedding = draft.embeddingOf(id);
            // Since the selection they may have been changed.
            if (!memory || !embedding || !cause || !passes(wanted, cause)) continue;
            if (memory.project === target || !passes(reached, memory)) continue;
            draft.put({ ...memory, ...embedding, project: target });
            count++;
          }
          return count;
        },
      }),
    );

  const moveAll = async (ids: readonly string[], move: Move): Promise<number> => {
    const { accountId, signal } = move.reach;
    const pause = createPause();
    const selected = new Set(ids);
    const walked = new Set<string>();
    let moved = 0;
    for (let start = 0; start < ids.length && !signal?.aborted; ) {
      await pause();
      const some = ids.slice(start, start + BATCH);
      const next = await store.use(accountId, ({ table }) =>
        nextGroups(table, some, { selected, walked, target: move.target }),
      );
      for (const group of next.groups) if (!signal?.aborted) moved += await moveSome(group, move);
      start += next.taken;
    }
    return moved;
  };

  return {
    /**
     * Moves all memories that match a filter to a project, and returns how many were moved. If it fails,
     * or the client goes, some are moved; calling it again moves the rest.
     * @param project `null` for none
     * @throws AppError `forbidden`, or `validation_failed` for a filter without a condition
     */
    async move(reach: Reach, filter: Filter, project: string | null): Promise<number> {
      requireCondition(filter, "Moving");
      const target = projectToWrite(reach, project);
      const reached = writable(reach, { aliveAt: clock() });
      const wanted = writable(reach, { ...filter, aliveAt: clock() });
      const pause = createPause();
      const ids = await store.use(reach.accountId, ({ table }) => table.select(wanted));
      await pause();
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

/**
 * Takes memories with their whole histories until there are enough to read at once.
 * @param ids some of the selected memories
 * @param walked ids of earlier groups and, afterwards, of these: each history is walked once
 * @returns what each change moves, and how many of the given ids were taken
 */
async function nextGroups(
  table: TableReader,
  ids: readonly string[],
  {
    selected,
    walked,
    target,
  }: { selected: ReadonlySet<string>; walked: Set<string> } & Pick<Move, "target">,
) {
  const rows = new Map((await table.find(ids)).map((row) => [row.id, row]));
  const get = async (id: string) => {
    const row = rows.get(id) ?? (await table.find([id]))[0] ?? null;
    if (row) rows.set(id, row);
    return row;
  };
  const groups: Moved[][] = [];
  let group: Moved[] = [];
  let [characters, found, taken] = [0, 0, 0];
  const endGroup = () => {
    groups.push(group);
    [group, characters] = [[], 0];
  };
  for (const id of ids) {
    if (found >= BATCH) break;
    taken++;
    if (walked.has(id) || !rows.has(id)) continue;
    const history = (await historyOf(get, id)).filter((each) => !walked.has(each));
    // Selected memories come last: if the others are not moved, the same request selects these again.
    const parts = Map.groupBy(history, (each) => selected.has(each));
    for (const each of [false, true].flatMap((isSelected) => parts.get(isSelected) ?? [])) {
      walked.add(each);
      found++;
      if (rows.get(each)?.project === target) continue;
      group.push({ id: each, selected: selected.has(each) ? each : id });
      characters += rows.get(each)?.content.length ?? 0;
      if (group.length >= BATCH || characters >= BATCH_CHARACTERS) endGroup();
    }
  }
  if (group.length > 0) endGroup();
  return { groups, taken };
}
