import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { type Filter, passes } from "../model/filter.ts";
import { MEMORY_ID } from "../model/memory.ts";
import { projectToWrite, writable } from "../model/reach.ts";
import type { MemoryRow } from "../model/rows.ts";
import type { Draft } from "../table/draft.ts";
import { chainIn, historyOf } from "../table/links.ts";
import type { TableReader } from "../table/table.ts";
import { type Parts, requireCondition } from "./visible.ts";

/**
 * Memories that one change moves, and characters of their texts, unless a history is longer: all their vectors are in memory
 * meanwhile, and others wait for the commit.
 */
const BATCH = 128;
const BATCH_CHARACTERS = 1 << 16;

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
  /** @param ids of selected memories and all others of their histories */
  const moveSome = (
    ids: readonly string[],
    selected: ReadonlySet<string>,
    { reach, wanted, reached, target }: Move,
  ): Promise<number> =>
    store.use(reach.accountId, async ({ writer }) =>
      writer.change({
        ids,
        withVectors: true,
        apply(draft) {
          // Since the selection they may have been changed.
          const matching = ids.filter((id) => {
            const memory = selected.has(id) ? draft.get(id) : null;
            return memory !== null && passes(wanted, memory);
          });
          let count = 0;
          for (const memory of withHistories(draft, matching)) {
            const embedding = draft.embeddingOf(memory.id);
            if (!embedding || memory.project === target || !passes(reached, memory)) continue;
            draft.put({ ...memory, ...embedding, project: target });
            count++;
          }
          return count;
        },
      }),
    );

  const moveAll = async (ids: readonly string[], move: Move): Promise<number> => {
    const { accountId } = move.reach;
    const pause = createPause();
    const selected = new Set(ids);
    const walked = new Set<string>();
    let moved = 0;
    for (let start = 0; start < ids.length && !move.reach.signal?.aborted; ) {
      await pause();
      const next = await store.use(accountId, ({ table }) =>
        nextGroups(table, ids.slice(start, start + BATCH), walked),
      );
      for (const group of next.groups) moved += await moveSome(group, selected, move);
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

/** Memories with all others of their histories, each once. */
function withHistories(draft: Draft, ids: readonly string[]): Iterable<MemoryRow> {
  const found = new Map<string, MemoryRow>();
  for (const id of ids) {
    if (!found.has(id)) for (const each of chainIn(draft, id)) found.set(each.id, each);
  }
  return found.values();
}

/**
 * Takes memories with their whole histories until there are enough to read at once.
 * @param walked ids of earlier groups and, afterwards, of these: each history is walked once
 * @returns ids of each change, and how many of the given ones were taken
 */
async function nextGroups(table: TableReader, ids: readonly string[], walked: Set<string>) {
  const rows = new Map((await table.find(ids)).map((row) => [row.id, row]));
  const get = async (id: string) => {
    const row = rows.get(id) ?? (await table.find([id]))[0] ?? null;
    if (row) rows.set(id, row);
    return row;
  };
  const groups: string[][] = [];
  let group: string[] = [];
  let [characters, found, taken] = [0, 0, 0];
  for (const id of ids) {
    if (found >= BATCH) break;
    taken++;
    if (walked.has(id) || !rows.has(id)) continue;
    for (const each of await historyOf(get, id)) {
      if (walked.has(each)) continue;
      walked.add(each);
      group.push(each);
      found++;
      characters += rows.get(each)?.content.length ?? 0;
    }
    if (characters < BATCH_CHARACTERS) continue;
    groups.push(group);
    [group, characters] = [[], 0];
  }
  if (group.length > 0) groups.push(group);
  return { groups, taken };
}
