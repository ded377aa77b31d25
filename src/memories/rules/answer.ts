import type { Reach } from "../../keys/reach.ts";
import type { Memory } from "../model/memory.ts";
import { mayRead } from "../model/reach.ts";
import { type MemoryRow, toMemory } from "../model/rows.ts";
import { linksOf } from "../table/links.ts";
import type { TableReader } from "../table/table.ts";

/** A memory as a caller receives it: without links to memories that are out of its reach, or missing. */
export function toAnswer(
  reach: Reach,
  row: MemoryRow,
  get: (id: string) => MemoryRow | null | undefined,
): Memory {
  const memory = toMemory(row);
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

/** Memories as a caller receives them; see `toAnswer`. */
export async function toAnswers(
  table: Pick<TableReader, "find">,
  reach: Reach,
  rows: readonly MemoryRow[],
): Promise<Memory[]> {
  if (!reach.bound) return rows.map(toMemory);
  const known = new Map(rows.map((row) => [row.id, row]));
  const missing = new Set(rows.flatMap(linksOf).filter((id) => !known.has(id)));
  if (missing.size > 0) for (const row of await table.find([...missing])) known.set(row.id, row);
  return rows.map((row) => toAnswer(reach, row, (id) => known.get(id)));
}
