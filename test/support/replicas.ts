import { createMetrics } from "../../src/metrics.ts";
import { openUnchecked } from "../../src/server/shared-data.ts";
import { borrowPostgres } from "./databases.ts";
import { silentLog } from "./embedder.ts";
import { sharedObjects } from "./object-store.ts";

/**
 * How many servers `startServer` starts: one with a folder of its own, or several that share a PostgreSQL
 * and an object store and get the requests in turn.
 */
export const REPLICAS = Number(process.env.CTXD_TEST_REPLICAS ?? 1);

/** A new place that servers can share, in a PostgreSQL and an object store of this process. */
export async function newSharedPlace() {
  const [database, { place }] = [await borrowPostgres(), await sharedObjects()];
  const settings = {
    databaseUrl: database.url,
    objects: place,
    drainSeconds: 0,
    cacheBytes: 1 << 30,
  };
  return {
    /** Opens it for one server, whose starts don't try the object store each time. @param folder for local copies */
    open: (folder: string) =>
      openUnchecked(settings, { folder, logger: silentLog, metrics: createMetrics() }),
    drop: database.giveBack,
  };
}
