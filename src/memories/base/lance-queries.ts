import type * as LanceDb from "@lancedb/lancedb";
import type { Table } from "apache-arrow";
import type { StoredMemory } from "../model/rows.ts";
import { createAssembly, decodeIds } from "./decode.ts";
import { idsSql } from "./filter-sql.ts";
import { memoryIdOf } from "./schema.ts";

/** Memories by id with their vectors. Memories of several rows need a second query. */
export async function load(
  table: LanceDb.Table,
  ids: readonly string[],
  columns: string[],
): Promise<StoredMemory[]> {
  if (ids.length === 0) return [];
  const more = (wanted: readonly string[]) => rowsOf(table, wanted, columns);
  return await assemble(await more(ids), more);
}

export function rowsOf(
  table: LanceDb.Table,
  ids: readonly string[],
  columns: string[],
): Promise<Table> {
  return table.query().where(idsSql(ids)).select(columns).toArrow();
}

/**
 * Memories whose first rows are given.
 * @param more reads their other rows
 */
export async function assemble(
  first: Table,
  more: (ids: readonly string[]) => Promise<Table>,
): Promise<StoredMemory[]> {
  const assembly = createAssembly();
  const memories = assembly.add(first);
  const further = assembly.missing();
  if (further.length > 0) memories.push(...assembly.add(await more(further)));
  assembly.end();
  return memories.map((memory) => ({
    ...memory,
    // Copies, since a view would keep the whole batch in memory.
    vectors: memory.vectors.map((vector) => vector.slice()),
    states: memory.states.slice(),
  }));
}

/** The ids of memories whose rows a query finds first, in the same order. */
export async function idsOf(
  query: LanceDb.Query | LanceDb.VectorQuery,
  limit: number,
  except: readonly string[],
  least = 0,
): Promise<string[]> {
  const decode = (rows: Table) => decodeIds(rows).map((id) => ({ id: memoryIdOf(id) }));
  return (await firstOf(query, { limit, least, except, decode })).map(({ id }) => id);
}

/**
 * The first rows that a query finds, without those to exclude. The query reads more rows than the limit, and
 * reads again with twice the limit if too few are left.
 * @param least how many different memories are found at least, if there are enough
 */
export async function firstOf<Found extends { id: string }>(
  query: LanceDb.Query | LanceDb.VectorQuery,
  {
    limit,
    least = 0,
    except,
    decode,
  }: {
    limit: number;
    least?: number;
    except: readonly string[];
    decode: (rows: Table) => Found[];
  },
): Promise<Found[]> {
  const excluded = new Set(except);
  for (let most = Math.max(1, limit + excluded.size); ; most *= 2) {
    const found = decode(await query.limit(most).toArrow());
    const kept = found.filter(({ id }) => !excluded.has(id));
    const seen = new Set<string>();
    const end = kept.findIndex(({ id }, index) => seen.add(id).size >= least && index + 1 >= limit);
    // Excluded memories and others may have several rows, so there may be fewer than expected.
    if (end >= 0) return kept.slice(0, end + 1);
    if (found.length < most) return kept;
  }
}
