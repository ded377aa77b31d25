import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import type { Lock } from "../../src/backup/age.ts";
import { createBackup } from "../../src/backup/create-backup.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { databasePath, openDatabase } from "../../src/db/database.ts";
import { createEmbedders, type Embedders } from "../../src/embedding/embedders.ts";
import { createGenerations } from "../../src/memories/generations.ts";
import { createIdempotency } from "../../src/memories/idempotency.ts";
import { createJournal } from "../../src/memories/journal.ts";
import { DUE, type Due } from "../../src/memories/keeper.ts";
import { createMemories } from "../../src/memories/memories.ts";
import { openStore } from "../../src/memories/store.ts";
import type { TableStats } from "../../src/memories/table-upkeep.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { silentLog, testCacheDir } from "./embedder.ts";
import { fakeEmbedder } from "./fake-embedder.ts";

/** Upkeep that never rests, so that files come and go all the time. */
export const HASTY: Due = {
  ...DUE,
  checkpointAfter: 50,
  commits: 4,
  idle: 100,
  restFactor: 0,
  purgeAfter: 200,
  retryAfter: 50,
  largeRows: 30,
  recentRows: 50,
};

/** Opens the data in a folder as a server does, without HTTP. Closed by `await using`. */
export async function openData(
  dataDir: string,
  due: Due = DUE,
  embedders: Embedders = createEmbedders(fakeEmbedder()),
  memory: { room?: number } = {},
) {
  const db = openDatabase(databasePath(dataDir));
  const folder = join(dataDir, "memories");
  mkdirSync(folder, { recursive: true });
  const lancedb = await loadLanceDb(testCacheDir);
  const store = await openStore({
    ...{ lancedb, folder, due, log: silentLog, ...memory },
    embedders,
    journal: createJournal({ db }),
    generations: createGenerations({ db }),
  });
  const clock = Date.now;
  const idempotency = createIdempotency({ db, clock });
  const close = async () => {
    await store.close();
    db.close();
  };
  /** A table's numbers. They can't be read while old versions are being dropped. */
  const tableStats = async (accountId: string, attempts = 100): Promise<TableStats> => {
    try {
      return await store.use(accountId, ({ table }) => table.upkeep.stats());
    } catch (error) {
      if (attempts === 1) throw error;
      await Bun.sleep(10);
      return await tableStats(accountId, attempts - 1);
    }
  };
  return {
    db,
    store,
    tableStats,
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
