import type { Log as Logger } from "../../log.ts";
import { CHECK_PREFIX } from "../../objects/check.ts";
import { ObjectStoreError } from "../../objects/object-store-error.ts";
import type { Objects } from "../../objects/objects.ts";
import { type Loop, spread, startLoop } from "../../timing/loop.ts";
import type { BaseRecords } from "../log/shared-log.ts";
import type { BaseCache } from "./base-cache.ts";
import { removeObjects } from "./base-objects.ts";

/** Milliseconds between checks of the recorded bases. Forgetting must not take longer than 60 s in all. */
const RECORDED_MS = 5_000;
/** Milliseconds between listings of all bases. A listing takes a call for each thousand. */
const LISTED_MS = 3_600_000;

/** What several replicas need to keep bases in an object store. */
export interface SharedParts {
  objects: Objects;
  records: BaseRecords;
  cache: BaseCache;
}

type Sweep = ReturnType<typeof createSweep>;

/** Removes the objects and local copies of bases to which no checkpoint refers any more. */
export function createSweep({ objects, records, cache }: SharedParts) {
  const removeAll = async (bases: readonly string[]) => {
    const refused: unknown[] = [];
    for (const base of bases) {
      try {
        await removeObjects(objects, base);
        await records.gone([base]);
      } catch (error) {
        // What the store answers for one base holds up no other. A store that is away is not asked again.
        if (!(error instanceof ObjectStoreError) || error.status === null) throw error;
        refused.push(error);
      }
    }
    if (refused.length > 0) throw refused[0];
    return bases.length;
  };

  return {
    /** Removes bases that are recorded as condemned. Returns their number. */
    recorded: async (): Promise<number> => removeAll(await records.condemned()),

    /**
     * Removes bases of our accounts that are in the object store and not wanted. A process leaves one if it was
     * suspended past its lease and writes on after others have removed the base. Returns their number.
     */
    async listed(): Promise<number> {
      let removed = 0;
      for await (const unwanted of unwantedBases({ objects, records })) {
        // A base that was replaced meanwhile is already condemned.
        removed += await removeAll(await records.condemn(unwanted));
      }
      return removed;
    },

    /** Whether the bucket keeps old versions of removed objects. An operator may change this at any time. */
    keepsRemoved: async (): Promise<boolean> => (await objects.versioning()) === "Enabled",

    /**
     * Removes local copies that are not in use: those above the limit, and those of unwanted bases.
     * @returns the number of unwanted bases
     */
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

/** Bases of this installation in the object store that are not wanted, a page at a time. */
export async function* unwantedBases({
  objects,
  records,
}: {
  objects: Pick<Objects, "folders">;
  records: Pick<BaseRecords, "wanted" | "ours">;
}): AsyncGenerator<string[]> {
  // A base is recorded before its first object is written. So the records must be read after the listing.
  for await (const folders of objects.folders()) {
    const bases = folders.filter((name) => !name.startsWith(CHECK_PREFIX));
    const wanted = bases.length > 0 ? await records.wanted(bases) : new Set();
    const unwanted = bases.filter((base) => !wanted.has(base));
    if (unwanted.length > 0) yield [...(await records.ours(unwanted))];
  }
}

/** Sweeps in the background until it is stopped. A failed sweep is repeated at the next time. */
export function startSweep(
  sweep: Sweep,
  {
    logger,
    every = { recorded: RECORDED_MS, listed: LISTED_MS },
  }: { logger: Logger; every?: { recorded: number; listed: number } },
): Loop {
  const attempt = async (what: string, task: () => Promise<number>) => {
    try {
      const bases = await task();
      if (bases > 0) logger.info("bases_swept", { what, bases });
    } catch (error) {
      logger.warn("sweep_failed", { what, cause: String(error) });
    }
  };

  const frequent = startLoop(async () => {
    await attempt("cached", sweep.cached);
    await attempt("recorded", sweep.recorded);
    return spread(every.recorded);
  }, spread(every.recorded));

  // A loop of its own: however much the bucket contains, what must be forgotten in time does not wait for it. The
  // random delay keeps replicas that start together from listing together.
  const rare = startLoop(async () => {
    await attempt("listed", sweep.listed);
    await attempt("versioning", async () => {
      if (await sweep.keepsRemoved()) logger.error("bucket_has_versioning");
      return 0;
    });
    return every.listed;
  }, Math.random() * every.listed);

  return {
    async stop() {
      await Promise.all([frequent.stop(), rare.stop()]);
    },
  };
}
