import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import type { Lock } from "../../src/backup/age.ts";
import { createBackup } from "../../src/backup/create-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { createEmbedders, type Embedders } from "../../src/embedding/chosen-model.ts";
import type { Log as Logger } from "../../src/log.ts";
import type { Expiry } from "../../src/memories/background/expiry.ts";
import type { OnStep } from "../../src/memories/base/bases.ts";
import type { LocalLog } from "../../src/memories/log/log.ts";
import { createSqliteLog } from "../../src/memories/log/sqlite-log.ts";
import { openStore } from "../../src/memories/open-store.ts";
import { createIdempotency } from "../../src/memories/rules/idempotency.ts";
import { createMemories } from "../../src/memories/rules/memories.ts";
import { createStorage } from "../../src/memories/table/storage.ts";
import { UPKEEP_LIMITS, type UpkeepLimits } from "../../src/memories/upkeep/flush-state.ts";
import type { Metrics } from "../../src/metrics.ts";
import { type LanceDb, loadLanceDb } from "../../src/native/lancedb.ts";
import { silentLog, testCacheDir } from "./embedder.ts";
import { openDatabase } from "./empty-database.ts";
import { fakeEmbedder } from "./fake-embedder.ts";

/** Upkeep that never rests, so that files come and go all the time. */
export const HASTY: UpkeepLimits = {
  ...UPKEEP_LIMITS,
  idle: 100,
  age: 300,
  changes: 20,
  restFactor: 0,
  forgetAfter: 200,
  retryAfter: 50,
  indexAfter: 150,
  largeRows: 30,
};

interface DataOptions {
  viewMemory?: number;
  /** Called at each step of a flush. It may throw, so that the flush fails. */
  step?: OnStep;
  /** Stands before LanceDB, to count or to break its calls. */
  wrap?: (lancedb: LanceDb) => LanceDb;
  /** The same for the log. */
  wrapLog?: (log: LocalLog) => LocalLog;
  logger?: Logger;
  metrics?: Metrics;
  clock?: () => number;
  /** When what has expired is forgotten. */
  expiry?: Expiry;
}

/** Opens the data in a folder as a server does, without HTTP. Closed by `await using`. */
export async function openData(
  dataDir: string,
  due: UpkeepLimits = UPKEEP_LIMITS,
  embedders: Embedders = createEmbedders(fakeEmbedder()),
  { step, wrap, wrapLog, logger = silentLog, clock = Date.now, ...memory }: DataOptions = {},
) {
  const db = openDatabase(dataDir);
  const folder = join(dataDir, "memories");
  mkdirSync(folder, { recursive: true });
  const loaded = await loadLanceDb(testCacheDir);
  const lancedb = wrap?.(loaded) ?? loaded;
  const ownLog = createSqliteLog({ db });
  const log = wrapLog?.(ownLog) ?? ownLog;
  const { model } = embedders.wanted;
  const storage = createStorage({
    lancedb,
    folder,
    log,
    wanted: model,
    ...(step && { step }),
  });
  const store = await openStore({ storage, embedders, due, logger, clock, ...memory });
  const idempotency = createIdempotency({ log, clock });
  const close = async () => {
    await store.close();
    await db.close();
  };
  return {
    db,
    log,
    storage,
    store,
    accounts: createAccounts({ db, clock }),
    memories: createMemories({ store, idempotency, clock }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A new folder, removed by `using`. */
export function folderOfTest(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A copy of a backup to be changed, and a data folder beside it that is not there yet. */
export function copyBackup(place: { path: string }, backup: string) {
  const root = join(place.path, crypto.randomUUID());
  const [folder, dataDir] = [join(root, "backup"), join(root, "data")];
  cpSync(backup, folder, { recursive: true });
  return { root, folder, dataDir };
}

/** Makes a backup in this process. @param lock to whom it is encrypted */
export async function backUp(dataDir: string, folder: string, lock: Lock | null = null) {
  const lancedb = await loadLanceDb(testCacheDir);
  return await createBackup({ dataDir, folder, version: "1.0.0", lancedb, clock: Date.now, lock });
}

/** Restores a backup in this process. @param identity what opens it */
export function restore(folder: string, dataDir: string, identity: string | null = null) {
  const unlock = identity === null ? null : async () => ({ identities: [identity] });
  return restoreBackup({ folder, dataDir, version: "1.0.0", unlock });
}
