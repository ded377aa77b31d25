import type { Decay } from "../config.ts";
import { createTally, type Stats } from "./stats.ts";
import type { MemoryTable } from "./table.ts";

/** Milliseconds for which figures of a table that does not change hold: only ages grow. */
const LIFETIME = 10 * 60_000;
/** Memories that are counted at a stretch, before others have their turn. */
const STRETCH = 2_000;

type Figures = Omit<Stats, "bytes">;

/** Counts what is in a table, again only when it has changed. */
export function createSurvey({ clock, decay }: { clock: () => number; decay: Decay }) {
  const known = new WeakMap<
    MemoryTable,
    { version: number; at: number; figures: Promise<Figures> }
  >();

  const count = async (table: MemoryTable, now: number): Promise<Figures> => {
    const tally = createTally(now, decay);
    let left = STRETCH;
    for (const facts of await table.facts()) {
      tally.add(facts);
      if (--left > 0) continue;
      left = STRETCH;
      await Bun.sleep(0);
    }
    return tally.total();
  };

  return async (table: MemoryTable): Promise<Figures> => {
    const version = await table.version();
    const now = clock();
    const last = known.get(table);
    if (last?.version === version && Math.abs(now - last.at) < LIFETIME) return last.figures;
    const figures = count(table, now);
    known.set(table, { version, at: now, figures });
    figures.catch(() => known.delete(table));
    return figures;
  };
}
