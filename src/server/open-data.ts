import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createQuotas } from "../accounts/quotas.ts";
import type { Config } from "../config/config.ts";
import { databasePath } from "../db/data-lock.ts";
import { openSqlite } from "../db/sqlite.ts";
import type { Embedders } from "../embedding/chosen-model.ts";
import type { Log } from "../log.ts";
import { createSqliteLog } from "../memories/log/sqlite-log.ts";
import { openStore } from "../memories/open-store.ts";
import type { Store } from "../memories/store/store.ts";
import { createStorage } from "../memories/table/storage.ts";
import type { Metrics } from "../metrics.ts";
import { loadLanceDb } from "../native/lancedb.ts";
import type { Data } from "./shared-data.ts";

/** Opens the data that the settings describe: the data folder, or the stores that several servers share. */
export async function openData(
  config: Config,
  parts: { logger: Log; metrics: Metrics },
): Promise<Data> {
  const { dataDir, shared } = config;
  if (!shared) return openFolder(dataDir);
  // Loaded only here: a server with its own folder starts faster without these modules.
  const { openShared } = await import("./shared-data.ts");
  return await openShared(shared, { folder: memoriesFolder(dataDir), ...parts });
}

function openFolder(dataDir: string): Data {
  const db = openSqlite(databasePath(dataDir));
  return { db, log: createSqliteLog({ db }), checks: {}, close: db.close };
}

/** Opens the memories of all accounts. */
export async function openMemories(
  { dataDir, cacheDir, memberQuota, memoryBytes }: Config,
  { db, log, vault }: Data,
  { logger, ...parts }: { embedders: Embedders; logger: Log; metrics: Metrics },
): Promise<Store> {
  const folder = memoriesFolder(dataDir);
  const lancedb = await loadLanceDb(cacheDir);
  const wanted = parts.embedders.wanted.model;
  const storage = createStorage({ lancedb, folder, log, wanted, ...(vault && { shared: vault }) });
  const quotaOf = createQuotas({ db, ofMembers: memberQuota }).of;
  return openStore({
    storage,
    quotaOf,
    viewMemory: memoryBytes ?? undefined,
    logger,
    ...parts,
  });
}

/** Creates the folder of the memories' files on this machine, and returns its path. */
function memoriesFolder(dataDir: string): string {
  const folder = join(dataDir, "memories");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return folder;
}
