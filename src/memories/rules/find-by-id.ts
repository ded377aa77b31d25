import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { passes } from "../model/filter.ts";
import { MEMORY_ID, type Memory } from "../model/memory.ts";
import { readable } from "../model/reach.ts";
import type { MemoryRow } from "../model/rows.ts";
import type { Store } from "../store/store.ts";
import type { MemoryTable } from "../table/table.ts";
import { toAnswers } from "./answer.ts";

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
export async function findAnswers(
  store: Pick<Store, "use">,
  reach: Reach,
  ids: readonly string[],
  now: number,
): Promise<Memory[]> {
  const rows = await findReadable(store, reach, ids, now);
  return store.use(reach.accountId, ({ table }) => toAnswers(table, reach, rows));
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

/** The error for an id that no memory of the account has. */
export function notFound(id: string): AppError {
  // A client's text is repeated to it only if it looks like an id.
  const which = MEMORY_ID.test(id) ? `id ${id}` : "this id";
  return new AppError("memory_not_found", `No memory with ${which} in this account.`);
}
