import { openSharedVault } from "../../src/memories/base/object-vault.ts";
import { measureLog } from "../../src/memories/log/measured-log.ts";
import { createPostgresLog } from "../../src/memories/log/postgres-log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openForServer } from "../../src/server/shared-database.ts";
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
  const settings = { databaseUrl: database.url, objects: place, cacheBytes: 1 << 30 };
  return {
    /**
     * Opens it for one server, as `openShared` does, but without the trial object, by which every start would check the
     * object store.
     * @param folder for local copies
     */
    async open(folder: string) {
      const parts = { folder, logger: silentLog, metrics: createMetrics() };
      const db = await openForServer(settings, parts);
      const log = measureLog(createPostgresLog(db.postgres), parts.metrics);
      const { records } = log.shared;
      const { vault, stop } = openSharedVault({ settings, records, ...parts });
      const close = async () => {
        await stop();
        await db.close();
      };
      return { db, log, vault, close };
    },
    drop: database.giveBack,
  };
}
