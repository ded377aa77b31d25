import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createEmbedders, type Embedders } from "../../src/embedding/chosen-model.ts";
import type { Expiry } from "../../src/memories/background/expiry.ts";
import { createBaseCache } from "../../src/memories/base/base-cache.ts";
import type { OnStep } from "../../src/memories/base/bases.ts";
import { createObjectVault } from "../../src/memories/base/object-vault.ts";
import { createSweep } from "../../src/memories/base/sweep.ts";
import type { Following } from "../../src/memories/cluster/following.ts";
import type { Log } from "../../src/memories/log/log.ts";
import { createPostgresLog } from "../../src/memories/log/postgres-log.ts";
import type { SharedLog } from "../../src/memories/log/shared-log.ts";
import type { QuotaOf } from "../../src/memories/model/quota.ts";
import { openStore } from "../../src/memories/open-store.ts";
import { createIdempotency } from "../../src/memories/rules/idempotency.ts";
import { createMemories } from "../../src/memories/rules/memories.ts";
import { createStorage } from "../../src/memories/table/storage.ts";
import {
  SHARED_UPKEEP_LIMITS,
  UPKEEP_LIMITS,
  type UpkeepLimits,
} from "../../src/memories/upkeep/flush-state.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { afterThisTest, temporaryFolder } from "./database.ts";
import { silentLog, testCacheDir } from "./embedder.ts";
import { fakeEmbedder } from "./fake-embedder.ts";
import { folderObjects } from "./folder-objects.ts";
import { logDatabase } from "./postgres-log.ts";

/** Upkeep as soon as there is something to do. */
export const AT_ONCE: UpkeepLimits = {
  ...SHARED_UPKEEP_LIMITS,
  ...{ idle: 50, age: 100, changes: 20, restFactor: 0, forgetAfter: 50, retryAfter: 50 },
};
/** Nothing is flushed by itself. */
export const NEVER: UpkeepLimits = {
  ...UPKEEP_LIMITS,
  idle: 1e9,
  age: 1e9,
  forgetAfter: 1e9,
  forgottenWithin: 1e9,
};

export const SOON: Following = {
  heads: 100,
  overdue: 200,
  overdueTables: 8,
  answers: 1_000,
  copies: 200,
  abandonedCopies: 500,
};

type ReplicaLog = Log & { shared: SharedLog };

interface ReplicaOptions {
  due?: UpkeepLimits;
  embedders?: Embedders;
  quotaOf?: QuotaOf;
  following?: Following;
  step?: OnStep;
  leaseLasts?: number;
  overdue?: { flush: number; forget: number };
  clock?: () => number;
  expiry?: Expiry;
  expiring?: number;
  wrapLog?: (log: ReplicaLog) => ReplicaLog;
}

export type Replica = Awaited<ReturnType<Awaited<ReturnType<typeof createReplicas>>["replica"]>>;

/** What several servers share, and servers on it, without HTTP. */
export async function createReplicas(accounts: readonly string[]) {
  const { postgres, connect, addAccount } = await logDatabase(accounts);
  const objects = folderObjects(temporaryFolder());

  const replica = async ({
    due = NEVER,
    embedders = createEmbedders(fakeEmbedder()),
    wrapLog = (log) => log,
    step = () => {},
    following = SOON,
    quotaOf,
    clock = Date.now,
    expiry,
    ...timing
  }: ReplicaOptions = {}) => {
    const folder = join(temporaryFolder(), "memories");
    mkdirSync(folder);
    const connection = connect();
    const log = wrapLog(createPostgresLog(connection, timing));
    const cache = createBaseCache({ folder, limit: 1 << 30, grace: 0 });
    const { records } = log.shared;
    const storage = createStorage({
      ...{ lancedb: await loadLanceDb(testCacheDir), folder, log, step },
      wanted: embedders.wanted.model,
      shared: createObjectVault({ objects, records, cache }),
    });
    const store = await openStore({
      ...{
        storage,
        embedders,
        logger: silentLog,
        due,
        following,
        clock,
        expiry,
        ...(quotaOf && { quotaOf }),
      },
    });
    const idempotency = createIdempotency({ log, clock });
    afterThisTest(store.close);
    return {
      ...{ folder, log, storage, store, cache },
      /** Cuts it off from the database permanently, so that its unfinished work is lost. */
      crash: connection.close,
      memories: createMemories({ store, idempotency, clock }),
      sweep: createSweep({ objects, records, cache }),
    };
  };
  const bases = async () => (await Array.fromAsync(objects.folders())).flat();
  return { postgres, objects, replica, bases, addAccount };
}
