import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readConfig } from "../../src/config/config.ts";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import { createRelater } from "../../src/embedding/relations/relater.ts";
import { createLog } from "../../src/log.ts";
import { createBaseCache } from "../../src/memories/base/base-cache.ts";
import { createObjectVault } from "../../src/memories/base/object-vault.ts";
import { createSweep, startSweep } from "../../src/memories/base/sweep.ts";
import { createPostgresLog } from "../../src/memories/log/postgres-log.ts";
import type { BaseRecords } from "../../src/memories/log/shared-log.ts";
import { openStore } from "../../src/memories/open-store.ts";
import { createStorage } from "../../src/memories/table/storage.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { createMetrics } from "../../src/metrics.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { createObjects, type Objects } from "../../src/objects/objects.ts";
import { openForServer } from "../../src/server/shared-database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { serveStore } from "../support/serve-store.ts";
import { enterStep } from "./trap.ts";

/**
 * Does what `ctxd serve` does as one of several replicas, for a data folder given as argument, with two
 * differences: the model is a fake one, so that it starts at once, and upkeep, leases and sweeps are due
 * quickly, so that one of them runs whenever the process is stopped. Each finished step of upkeep is
 * printed on standard output. `TRAP` names the file of a trap. With `RELATES` the model of relations is the real one, which
 * takes a third of the processor time of replicas that clients write to: without it nothing is related.
 */
const IMPATIENT = {
  ...UPKEEP_LIMITS,
  idle: 200,
  age: 500,
  changes: 40,
  restFactor: 0,
  forgetAfter: 400,
  retryAfter: 300,
  indexAfter: 300,
  largeRows: 30,
};
/** Milliseconds that a lease lasts, and after which another replica takes over overdue work. */
const LEASE = 1_000;
const OVERDUE = { flush: 1_500, forget: 1_000 };
const SWEEP = { recorded: 300, listed: 1_000 };

const [dataDir = ""] = process.argv.slice(2);
const { TRAP = "", RELATES = "" } = process.env;
const clock = Date.now;
const { shared } = readConfig(process.env, {});
if (!shared) throw new Error("a replica needs CTXD_DATABASE_URL and CTXD_OBJECTS");
const logger = createLog({ logLevel: "debug", logFormat: "text" });
const folder = join(dataDir, "memories");
mkdirSync(folder, { recursive: true });

/** Prints that a step is done, and may end or stop the process. */
function step(name: string) {
  process.stdout.write(`${name}\n`);
  enterStep(TRAP, name);
}

/** The same after a call of a method. */
function after<Argument, Result>(name: string, call: (argument: Argument) => Promise<Result>) {
  return async (argument: Argument): Promise<Result> => {
    const result = await call(argument);
    step(name);
    return result;
  };
}

const db = await openForServer(shared, { logger, metrics: createMetrics() });
const log = createPostgresLog(db.postgres, { overdue: OVERDUE, leaseLasts: LEASE });
const ownRecords = log.shared.records;
const records: BaseRecords = {
  ...ownRecords,
  begin: after("base begun", ownRecords.begin),
  condemn: after("base condemned", ownRecords.condemn),
  gone: after("base gone", ownRecords.gone),
};
const store_ = createObjects(shared.objects);
const objects: Objects = {
  ...store_,
  async put(name, file) {
    await store_.put(name, file);
    step("object put");
  },
  remove: after("object removed", store_.remove),
};
const cache = createBaseCache({ folder, limit: shared.cacheBytes });
const sweeping = startSweep(createSweep({ objects, records, cache }), { logger, every: SWEEP });
const embedder = {
  ...fakeEmbedder(),
  ...(RELATES && { relate: createRelater({ cacheDir: testCacheDir, log: logger }).relate }),
};
const storage = createStorage({
  lancedb: await loadLanceDb(testCacheDir),
  wanted: embedder.model,
  folder,
  log,
  step,
  shared: createObjectVault({ objects, records, cache }),
});
const store = await openStore({
  storage,
  embedders: createEmbedders(embedder, (model) => fakeEmbedder(model)),
  logger,
  due: IMPATIENT,
});
const served = serveStore({
  ...{ dataDir, db, store, memoryLog: log, clock, log: logger },
  checks: { database: async () => ((await db.isReachable()) ? "ok" : "failed") },
});
process.stdout.write(`listening on http://127.0.0.1:${served.port}\n`);

process.on("SIGTERM", async () => {
  await served.close();
  await sweeping.stop();
  await db.close();
  process.exit(0);
});
