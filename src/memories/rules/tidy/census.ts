import { createPause } from "../../../timing/pause.ts";
import { passes } from "../../model/filter.ts";
import type { MemoryRow } from "../../model/rows.ts";
import type { MemoryTable } from "../../table/table.ts";

/** Milliseconds since the last change of a project's only memory: a younger project has just begun. */
const SETTLED_MS = 7 * 86_400_000;
/** Milliseconds for which the census of an unchanged table is kept: only ages change. */
const LIFETIME = 10 * 60_000;

/** What is known of a table after a look at all of its memories. */
interface Census {
  /** Ids of all that wrote memories. */
  readonly sourceIds: readonly string[];
  /** Ids of the memories that are alone in their projects. */
  readonly lone: readonly string[];
}

/** Returns a function that looks at all memories of a table, again only after a change. */
export function createCensus() {
  const known = new WeakMap<
    MemoryTable,
    { changes: number; at: number; census: Promise<Census> }
  >();

  const take = async (table: MemoryTable, now: number): Promise<Census> => {
    const sourceIds = new Set<string>();
    /** The first memory of each project, or null if it has more. */
    const projects = new Map<string, MemoryRow | null>();
    const alive = { aliveAt: now, isCurrent: true };
    const pause = createPause();
    for await (const rows of table.rows()) {
      for (const row of rows) {
        if (row.source) sourceIds.add(row.source.id);
        if (row.project === null || !passes(alive, row)) continue;
        projects.set(row.project, projects.has(row.project) ? null : row);
      }
      await pause();
    }
    const lone = [...projects.values()].filter(
      (row) => row !== null && row.updatedAt < now - SETTLED_MS,
    );
    return { sourceIds: [...sourceIds], lone: lone.flatMap((row) => row?.id ?? []) };
  };

  return (table: MemoryTable, now: number): Promise<Census> => {
    const { changes } = table;
    const last = known.get(table);
    const isCurrent = last?.changes === changes && Math.abs(now - last.at) < LIFETIME;
    if (last && isCurrent) return last.census;
    const census = take(table, now);
    known.set(table, { changes, at: now, census });
    census.catch(() => known.delete(table));
    return census;
  };
}
