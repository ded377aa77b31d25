import { createPause } from "../../timing/pause.ts";
import type { MemoryRow } from "../model/rows.ts";
import { createDraft, type QueuedChange } from "./draft.ts";
import { addLinks, linksOf } from "./links.ts";
import type { MemoryTable } from "./table.ts";

/**
 * Memories that a filter removes in one commit. They are selected in the commit's turn, so that a removal has one moment:
 * what was saved before it is removed, too. Other writes and requests run between two commits.
 */
const MAX_REMOVED = 1_024;

/** Reads all that the changes of a commit need, and the ids of the memories that match their filters. */
export async function readForCommit(table: MemoryTable, changes: readonly QueuedChange[]) {
  // A view answers at once, however many memories it looks at.
  const pause = createPause();
  const matches = await matchFilters(table, changes);
  await pause();
  const rows = createRows(table);
  await rows.find([...idsOf(changes), ...matches.values().flatMap(({ ids }) => ids)]);
  const linked = new Set<string>();
  for (const change of changes) {
    const ids = [...change.ids, ...(matches.get(change)?.ids ?? [])];
    for (const id of await linkedIds(change, ids, rows)) linked.add(id);
  }
  await pause();
  for (const { content, vectors } of changes.flatMap(({ withTextsOf = [] }) => withTextsOf)) {
    // A failed search for duplicates must not prevent saving.
    rows.add(await table.withText(content, vectors[0] ?? null).catch(() => []));
  }
  const withVectors = new Set(idsOf(changes.filter((change) => change.withVectors)));
  const loaded = await table.load([...withVectors.union(linked)]);
  rows.add(loaded);
  await pause();
  return { matches, draft: createDraft(rows.all(), loaded) };
}

async function matchFilters(table: MemoryTable, changes: readonly QueuedChange[]) {
  const matches = new Map<QueuedChange, { ids: string[]; left: number }>();
  const pause = createPause();
  for (const change of changes) {
    const { filter } = change;
    if (!filter) continue;
    const ids = await table.select(filter, MAX_REMOVED);
    const all = ids.length < MAX_REMOVED ? ids.length : await table.count(filter);
    matches.set(change, { ids, left: all - ids.length });
    await pause();
  }
  return matches;
}

type Rows = ReturnType<typeof createRows>;

/** The memories that were read for a commit, by id. */
function createRows(table: MemoryTable) {
  const rows = new Map<string, MemoryRow>();
  const add = (found: readonly MemoryRow[]) => {
    for (const row of found) rows.set(row.id, row);
  };
  return {
    add,
    all: () => [...rows.values()],
    get: (id: string) => rows.get(id),
    async find(ids: readonly string[]): Promise<void> {
      const missing = [...new Set(ids)].filter((id) => !rows.has(id));
      if (missing.length > 0) add(await table.find(missing));
    },
  };
}

/**
 * Ids of the memories that are linked with those of a change, and that the change may have to relink.
 * @param ids of the change's own memories
 */
async function linkedIds(
  { links, filter }: QueuedChange,
  ids: readonly string[],
  rows: Rows,
): Promise<string[]> {
  if (links === undefined && filter === null) return [];
  const own = links === "chain" ? await chainOf(ids, rows) : new Set(ids);
  return [...own].flatMap((id) => linksOf(rows.get(id))).filter((id) => !own.has(id));
}

/** Some memories' ids, and the ids of their whole histories. */
async function chainOf(ids: readonly string[], rows: Rows): Promise<Set<string>> {
  const chain = new Set(ids);
  const pause = createPause();
  for (const id of chain) {
    await rows.find([id]);
    addLinks(chain, rows.get(id));
    await pause();
  }
  return chain;
}

function idsOf(changes: readonly QueuedChange[]): string[] {
  return changes.flatMap(({ ids }) => ids);
}
