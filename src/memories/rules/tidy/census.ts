import { createPause } from "../../../timing/pause.ts";
import { passes } from "../../model/filter.ts";
import type { MemoryRow } from "../../model/rows.ts";
import type { MemoryTable } from "../../table/table.ts";

/** Milliseconds since the last change of a project's only memory: a younger project has just begun. */
const SETTLED_MS = 7 * 86_400_000;
/** Milliseconds for which the census of an unchanged table is kept: only ages change. */
const LIFETIME = 10 * 60_000;

/** Milliseconds for which a report waits for the census of a table that has changed. */
const WAIT_MS = 50;

/** What is known of a table after a look at all of its memories. */
interface Census {
  /** Ids of all that wrote memories. */
  readonly sourceIds: readonly string[];
  /** Ids of the memories that are alone in their projects. */
  readonly lone: readonly string[];
}

/** A census that is being taken, or was taken. */
interface Taking {
  readonly changes: number;
  readonly at: number;
  readonly census: Promise<Census>;
  /** What it has found, once it has. */
  result: Census | null;
  /** What the one before it has found. */
  readonly former: Census | null;
}

/**
 * Returns a function that looks at all memories of a table, again only after a change. A large table takes seconds: unless
 * the census must be exact, the former one is returned meanwhile.
 */
export function createCensus() {
  const known = new WeakMap<MemoryTable, Taking>();

  const take = async (table: MemoryTable, now: number): Promise<Census> => {
    const sourceIds = new Set<string>();
    /** The first memory of each project, or null if it has more. */
    const projects = new Map<string, MemoryRow | null>();
    const alive = { aliveAt: now, isCurrent: true };
    const pause = createPause();
    for await (const rows of table.rows()) {
      for (const row of rows) {
        if (row.source) sourceIds.add(row.source.id);
        if (row.project !== null && passes(alive, row)) {
          projects.set(row.project, projects.has(row.project) ? null : row);
        }
        await pause();
      }
    }
    const lone = [...projects.values()].filter(
      (row) => row !== null && row.updatedAt < now - SETTLED_MS,
    );
    return { sourceIds: [...sourceIds], lone: lone.flatMap((row) => row?.id ?? []) };
  };

  const begin = (table: MemoryTable, now: number, former: Census | null): Taking => {
    const census = take(table, now);
    const taking: Taking = { changes: table.changes, at: now, census, result: null, former };
    known.set(table, taking);
    census.then(
      (found) => {
        taking.result = found;
      },
      () => known.delete(table),
    );
    return taking;
  };

  return async (table: MemoryTable, now: number, isExact: boolean): Promise<Census> => {
    const last = known.get(table);
    const isCurrent = last?.changes === table.changes && Math.abs(now - last.at) < LIFETIME;
    // Of two that are taken at once, each would take twice as long.
    const isUnderWay = !isExact && last?.former && !last.result;
    const taking =
      last && (isCurrent || isUnderWay)
        ? last
        : begin(table, now, last?.result ?? last?.former ?? null);
    const { census, former } = taking;
    if (isExact || !former) return await census;
    return await Promise.race([census, Bun.sleep(WAIT_MS).then(() => former)]);
  };
}
