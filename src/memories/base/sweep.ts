import type { Log as Lines } from "../../log.ts";
import { TRIAL } from "../../objects/check.ts";
import type { Objects } from "../../objects/objects.ts";
import type { BaseCache } from "./base-cache.ts";
import { removeObjects } from "./base-objects.ts";
import type { BaseRecords } from "./base-records.ts";

/** Milliseconds between looks at what is recorded: 60 s are promised for all of forgetting. */
const RECORDED = 5_000;
/** Milliseconds between listings of all bases, which take a call for each thousand. */
const LISTED = 3_600_000;

interface Parts {
  objects: Objects;
  records: BaseRecords;
  cache: BaseCache;
}

export type Sweep = ReturnType<typeof createSweep>;

/** Removes the objects and the local copies of bases that no checkpoint refers to any more. */
export function createSweep({ objects, records, cache }: Parts) {
  const removeAll = async (bases: readonly string[]) => {
    for (const base of bases) {
      await removeObjects(objects, base);
      await records.gone([base]);
    }
    return bases.length;
  };

  return {
    /** Removes those that are recorded as condemned; tells how many. */
    recorded: async (): Promise<number> => removeAll(await records.condemned()),

    /**
     * Removes all that are in the object store and not wanted: what a process wrote that was stopped past
     * its lease, after others had removed the base. Tells how many.
     */
    async listed(): Promise<number> {
      let removed = 0;
      for await (const unwanted of unwantedBases({ objects, records })) {
        // One whose place another has taken meanwhile is condemned already.
        removed += await removeAll(await records.condemn(unwanted));
      }
      return removed;
    },

    /** Whether the bucket keeps what is removed, which can have been changed at any time. */
    keepsRemoved: async (): Promise<boolean> => (await objects.versioning()) === "Enabled",

    /** Removes local copies that nobody uses: of unwanted bases, whose number it tells, and what is too much. */
    async cached(): Promise<number> {
      await cache.load();
      await cache.adoptOld();
      await cache.makeRoom();
      const unused = cache.unused();
      const wanted = unused.length > 0 ? await records.wanted(unused) : new Set();
      const unwanted = unused.filter((base) => !wanted.has(base));
      for (const base of unwanted) await cache.removeUnused(base);
      return unwanted.length;
    },
  };
}

/** Bases in the object store that are not wanted, some at a time. */
export async function* unwantedBases({
  objects,
  records,
}: {
  objects: Pick<Objects, "folders">;
  records: Pick<BaseRecords, "wanted">;
}): AsyncGenerator<string[]> {
  // What is listed has been recorded before: so the records are read after it, and not the other way round.
  for await (const folders of objects.folders()) {
    const bases = folders.filter((name) => !name.startsWith(TRIAL));
    const wanted = bases.length > 0 ? await records.wanted(bases) : new Set();
    yield bases.filter((base) => !wanted.has(base));
  }
}

/** Sweeps now and then until it is stopped. What fails is tried again at the next time. */
export function startSweep(
  sweep: Sweep,
  {
    lines,
    every = { recorded: RECORDED, listed: LISTED },
  }: { lines: Lines; every?: { recorded: number; listed: number } },
): { stop(): Promise<void> } {
  let isStopped = false;
  // Replicas that start together do not list together.
  let listAt = performance.now() + Math.random() * every.listed;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let round = Promise.resolve();

  const attempt = async (what: string, task: () => Promise<number>) => {
    try {
      const bases = await task();
      if (bases > 0) lines.info("bases_swept", { what, bases });
    } catch (error) {
      lines.warn("sweep_failed", { what, cause: String(error) });
    }
  };

  const work = async () => {
    await attempt("cached", sweep.cached);
    await attempt("recorded", sweep.recorded);
    if (performance.now() < listAt) return;
    listAt = performance.now() + every.listed;
    await attempt("listed", sweep.listed);
    await attempt("versioning", async () => {
      if (await sweep.keepsRemoved()) lines.error("bucket_has_versioning");
      return 0;
    });
  };

  const schedule = () => {
    timer = setTimeout(
      () => {
        round = work().finally(() => {
          if (!isStopped) schedule();
        });
      },
      every.recorded * (0.75 + Math.random() / 2),
    );
  };
  schedule();

  return {
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      await round;
    },
  };
}
