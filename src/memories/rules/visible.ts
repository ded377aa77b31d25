import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { type Filter, hasCondition, passes } from "../model/filter.ts";
import { MEMORY_ID, type Memory } from "../model/memory.ts";
import { mayRead, readable } from "../model/reach.ts";
import { type MemoryRow, toMemory } from "../model/rows.ts";
import type { Store } from "../store/store.ts";
import { linksOf } from "../table/links.ts";
import type { MemoryTable, TableReader } from "../table/table.ts";

/** What the rules about memories work with. */
export interface Parts {
  store: Pick<Store, "use">;
  /** Milliseconds since 1970. */
  clock: () => number;
}

/**
 * What a caller may find: nothing that has expired by now, and nothing that was saved after `knownAt`. What will be known
 * is unknown, so a moment of the future is now.
 * @param now milliseconds since 1970
 */
export function findable(reach: Reach, { knownAt, ...filter }: Filter, now: number): Filter {
  const isPast = knownAt !== undefined && knownAt < now;
  return readable(reach, { ...filter, ...(isPast && { knownAt }), aliveAt: now });
}

/** Marks memories that have been changed since the moment of a filter. No earlier text of them is kept. */
export function markChanged<Shown extends Memory>(
  memories: readonly Shown[],
  { knownAt }: Filter,
): Shown[] {
  return memories.map((memory) =>
    knownAt !== undefined && Date.parse(memory.updated_at) > knownAt
      ? { ...memory, changed_since: true as const }
      : memory,
  );
}

/** The space that a memory is in, for callers who know of spaces. */
function spaceOf({ space, spaces = [] }: Reach): Pick<Memory, "space"> {
  return space !== undefined || spaces.length > 0 ? { space: space?.name ?? null } : {};
}

/** A memory as a caller receives it: without links to memories that are out of its reach, or missing. */
export function toVisibleMemory(
  reach: Reach,
  row: MemoryRow,
  get: (id: string) => MemoryRow | null | undefined,
): Memory {
  const memory = { ...toMemory(row), ...spaceOf(reach) };
  if (!reach.bound) return memory;
  const visible = (id: string | null) => {
    const linked = id === null ? null : get(id);
    return linked && mayRead(reach, linked) ? linked.id : null;
  };
  return {
    ...memory,
    supersedes: visible(row.supersedes),
    superseded_by: visible(row.supersededBy),
  };
}

/** Memories as a caller receives them; see `toVisibleMemory`. */
export async function toVisibleMemories(
  table: Pick<TableReader, "find">,
  reach: Reach,
  rows: readonly MemoryRow[],
): Promise<Memory[]> {
  if (!reach.bound) return rows.map((row) => toVisibleMemory(reach, row, () => null));
  const known = new Map(rows.map((row) => [row.id, row]));
  const missing = new Set(rows.flatMap(linksOf).filter((id) => !known.has(id)));
  if (missing.size > 0) for (const row of await table.find([...missing])) known.set(row.id, row);
  return rows.map((row) => toVisibleMemory(reach, row, (id) => known.get(id)));
}

/**
 * Memories by id that may be read, in the order of the ids; the others are left out.
 * @param now milliseconds since 1970
 */
export async function findReadable(
  store: Pick<Store, "use">,
  reach: Reach,
  ids: readonly string[],
  now: number,
): Promise<MemoryRow[]> {
  const rows = await store.use(reach.accountId, ({ table }) => findInOrder(table, ids));
  const visible = readable(reach, { aliveAt: now });
  return rows.filter((row) => passes(visible, row));
}

/** As `findReadable`, in the form in which the caller receives them. */
export async function findVisible(
  store: Pick<Store, "use">,
  reach: Reach,
  ids: readonly string[],
  now: number,
): Promise<Memory[]> {
  const rows = await findReadable(store, reach, ids, now);
  return store.use(reach.accountId, ({ table }) => toVisibleMemories(table, reach, rows));
}

/** Memories by id, in the order of the ids; missing ones are left out. */
export async function findInOrder(
  table: Pick<MemoryTable, "find">,
  ids: readonly string[],
): Promise<MemoryRow[]> {
  const rows = await table.find(ids);
  const byId = new Map(rows.map((row) => [row.id, row]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** @throws AppError `validation_failed` for a filter without a condition, which would match everything */
export function requireCondition(filter: Filter, action: "Moving" | "Deleting"): void {
  if (hasCondition(filter)) return;
  const message = `${action} everything at once is not possible: give at least one filter.`;
  throw new AppError("validation_failed", message);
}

/** The error for an id that no memory of the account has. */
export function notFound(id: string): AppError {
  // A client's text is repeated to it only if it looks like an id.
  const which = MEMORY_ID.test(id) ? `id ${id}` : "this id";
  return new AppError("memory_not_found", `No memory with ${which} in this account.`);
}
