import type { Relate } from "../../embedding/relations/relater.ts";
import { createPause } from "../../timing/pause.ts";
import type { Likeness, Likenesses } from "../log/likenesses/likenesses.ts";
import type { Lease } from "../log/records.ts";
import { compareIn, passes } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";
import { LEAST_ALIKE, likenessOf } from "../ranking/hint.ts";
import { meaningScore } from "../ranking/relevance.ts";
import type { KeptTable } from "../table/table.ts";
import type { View } from "../view/view.ts";

/** The most memories of one step through a table that has not been compared, and the milliseconds that a step takes. */
const STEP = { memories: 500, ms: 500 };
/** The nearest passages that are looked at. The model of relations takes 2.5 ms for each, in a thread of its own. */
const CANDIDATES = 16;
/** Pairs that are recorded when a memory is compared. Tidying them lets further ones be found. */
const MOST_PAIRS = 4;
/**
 * The most for which a step rests, in its durations: it mostly waits for the model, whose thread runs behind all others. A little
 * less than one, so that the next check finds it rested.
 */
const REST_FACTOR = 0.9;
/** Milliseconds after which comparing that failed is tried again. */
const RETRY_MS = 60_000;
/** What is compared: memories that somebody saved and that hold. */
const COMPARED = { isCaptured: false, isCurrent: true } as const;

/** Whether comparing is worth the lock on the table: what follows is to be compared, was, or is not known. */
type Work = "unknown" | "some" | "none";

type Times = Pick<MemoryRow, "createdAt" | "updatedAt">;
type Done = Parameters<Likenesses["record"]>[2];

const newestFirst = compareIn("newest");

export type Comparing = ReturnType<typeof createComparing>;

/**
 * Finds the likenesses of one table's memories, in short steps: those of the memories that each flush has brought into
 * the base, and, once, those of all others. Reads the view alone, so tables without one wait, and those that do not fit
 * in memory are left out.
 * @param lease of the running chore, where several processes compare
 */
export function createComparing({
  table,
  likenesses,
  relate,
  lease,
}: {
  table: KeptTable;
  likenesses: Likenesses;
  relate: Relate;
  lease: () => Lease | null;
}) {
  let work: Work = "unknown";
  /** Whether the table must be compared from the start. */
  let mustReset = false;
  let restUntil = 0;
  /** Why the last changes could not be noted; the next run throws it. */
  let failure: unknown = null;

  /** The likenesses of a memory: the nearest of each kind, then the nearest others. */
  const compare = async (view: View, row: MemoryRow): Promise<Likeness[]> => {
    const { unrelated, same } = table.model.cosines;
    const least = unrelated + LEAST_ALIKE * (same - unrelated);
    const filter = { ...COMPARED, projects: [row.project] };
    const near = view.near(row.id, { filter, limit: CANDIDATES, least });
    const all: Likeness[] = [];
    for (const { memory, cosine } of near) {
      const alike = meaningScore(cosine, table.model.cosines);
      const [later, earlier] = newestFirst(memory, row) < 0 ? [memory, row] : [row, memory];
      const kind = await likenessOf(earlier, later, alike, relate);
      const changedAt = Math.max(memory.updatedAt, row.updatedAt);
      if (kind) all.push({ later: later.id, earlier: earlier.id, kind, changedAt });
    }
    const first = all.filter((one) => one === all.find(({ kind }) => kind === one.kind));
    return [...new Set([...first, ...all])].slice(0, MOST_PAIRS);
  };

  /** @returns the pairs that were found, each once, and how many of the memories were compared in the time of a step */
  const compareAll = async (
    view: View,
    ids: readonly string[],
  ): Promise<{ found: Likeness[]; compared: number }> => {
    const end = performance.now() + STEP.ms;
    const pause = createPause();
    /** Two memories that are compared in one step find each other. */
    const found = new Map<string, Likeness>();
    let compared = 0;
    for (const id of ids) {
      if (compared > 0 && performance.now() > end) break;
      await pause();
      // The view may have been closed meanwhile.
      if (table.view.current !== view) throw new Error("the view was closed");
      const row = view.get(id);
      const pairs = row && passes(COMPARED, row) ? compare(view, row) : Promise.resolve([]);
      // What was found before a failure is recorded; the next step fails if it lasts.
      const done = await pairs.catch((error) => {
        if (compared === 0) throw error;
        return null;
      });
      if (!done) break;
      for (const pair of done) found.set(`${pair.later} ${pair.earlier}`, pair);
      compared++;
    }
    return { found: [...found.values()], compared };
  };

  const record = async (found: readonly Likeness[], done: Done) => {
    const isRecorded = await likenesses.record(table.name, found, done, lease());
    // The first flush of a table without entries notes what there is to compare.
    work = isRecorded ? "some" : "none";
  };

  const step = async (view: View): Promise<void> => {
    if (mustReset) await likenesses.reset(table.name);
    mustReset = false;
    const { comparedTo, parcel } = await likenesses.state(table.name);
    if (parcel) {
      const { found, compared } = await compareAll(view, parcel.ids);
      await record(found, { parcel: parcel.number, left: parcel.ids.slice(compared) });
      return;
    }
    if (comparedTo === null) {
      work = "none";
      return;
    }
    const ids = view.list(COMPARED, comparedTo ?? null, STEP.memories);
    // Read before they are compared: a memory may be removed meanwhile.
    const times = new Map(ids.map((id) => [id, view.get(id)?.createdAt ?? 0]));
    const { found, compared } = await compareAll(view, ids);
    const last = ids[compared - 1];
    const isLast = last === undefined || (ids.length < STEP.memories && last === ids.at(-1));
    const next = isLast ? null : { createdAt: times.get(last) ?? 0, id: last };
    await record(found, { comparedTo: next });
  };

  return {
    /** Whether there is something to compare, and the table has rested. */
    isDue: () =>
      work !== "none" &&
      performance.now() >= restUntil &&
      table.view.current !== null &&
      table.fitsInMemory(),

    /**
     * Notes the changes that a flush is about to bring into the base. Never fails: a table whose changes could not be noted
     * is compared from the start, and the next run fails.
     */
    async note(changes: ReadonlyMap<string, Times | null>): Promise<void> {
      const isLarge = !table.fitsInMemory();
      if (isLarge) mustReset = true;
      // A new memory may have been compared before this flush: what was found then still holds.
      const holds = (row: Times | null) => !isLarge && row && row.updatedAt === row.createdAt;
      try {
        // Comparing that has not begun reaches all memories, also those of this flush.
        const { comparedTo } = await likenesses.state(table.name);
        const mustCompare = !isLarge && comparedTo !== undefined;
        const toCompare = [...changes].flatMap(([id, row]) => (mustCompare && row ? id : []));
        const toDrop = [...changes].flatMap(([id, row]) => (holds(row) ? [] : id));
        await likenesses.note(table.name, toCompare, toDrop);
      } catch (error) {
        mustReset = true;
        failure = error;
      }
      work = "unknown";
    },

    /** Compares nothing for a while. */
    rest(ms: number): void {
      restUntil = performance.now() + ms;
    },

    /** Compares some memories. */
    async run(restFactor: number): Promise<void> {
      const started = performance.now();
      const view = table.view.current;
      try {
        const unnoted = failure;
        failure = null;
        if (unnoted !== null) throw unnoted;
        if (view) await step(view);
        const factor = Math.min(REST_FACTOR, restFactor);
        restUntil = performance.now() + factor * (performance.now() - started);
      } catch (error) {
        restUntil = performance.now() + RETRY_MS;
        throw error;
      }
    },
  };
}
