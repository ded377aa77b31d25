import type { ObjectSettings, SharedSettings } from "../config/shared-settings.ts";
import type { Database } from "../db/database.ts";
import type { Checks } from "../http/health.ts";
import type { Log } from "../log.ts";
import { openSharedVault } from "../memories/base/object-vault.ts";
import type { Vault } from "../memories/base/vault.ts";
import type { Log as MemoryLog } from "../memories/log/log.ts";
import { measureLog } from "../memories/log/measured-log.ts";
import { createPostgresLog } from "../memories/log/postgres-log.ts";
import type { Metrics } from "../metrics.ts";
import { checkObjectStore } from "../objects/check.ts";
import { createObjects } from "../objects/objects.ts";
import { reuseFor } from "./checks.ts";
import { openForServer } from "./shared-database.ts";
import { ServerError } from "./starting.ts";

/** The stores of a server's data, on its disk or shared. */
export interface Data {
  readonly db: Database;
  /** The log of memories. */
  readonly log: MemoryLog;
  /** The vault that several servers share. Without it, the disk is the vault. */
  readonly vault?: Vault;
  /** Checks of remote stores other than the database. */
  readonly checks: Checks;
  close(): Promise<void>;
}

/** Milliseconds for which a check of the object store is reused: each request costs money. */
const CHECK_EVERY_MS = 5_000;
const CHECK_TIMEOUT_MS = 2_000;

interface Parts {
  /** The local copies of the object store's files. */
  folder: string;
  logger: Log;
  metrics: Metrics;
}

/**
 * Checks the object store, and opens it and the database that several servers share.
 * @throws ServerError or DatabaseError with one sentence for the user
 */
export async function openShared(settings: SharedSettings, parts: Parts): Promise<Data> {
  await tryObjectStore(settings.objects, parts.logger);
  return await openUnchecked(settings, parts);
}

/** Opens the database and the object store without a trial of the latter, and upgrades the schema. */
export async function openUnchecked(
  settings: SharedSettings,
  { folder, logger, metrics }: Parts,
): Promise<Data> {
  const db = await openForServer(settings, { logger, metrics });
  const log = measureLog(createPostgresLog(db.postgres), metrics);
  const { records } = log.shared;
  const { vault, stop } = openSharedVault({ settings, folder, records, logger, metrics });
  return {
    db,
    log,
    vault,
    checks: objectChecks(settings.objects),
    async close() {
      await stop();
      await db.close();
    },
  };
}

/** A store that does not answer may answer later. With wrong settings it never will. */
async function tryObjectStore(settings: ObjectSettings, logger: Log): Promise<void> {
  const { state, message } = await checkObjectStore(settings);
  if (state === "wrong") throw new ServerError(message);
  if (state === "away") logger.warn("object_store_away", { cause: message });
}

function objectChecks(settings: ObjectSettings): Checks {
  const objects = createObjects(settings, { timeoutMs: CHECK_TIMEOUT_MS });
  const ask = () =>
    objects.versioning().then(
      () => "ok" as const,
      () => "unreachable" as const,
    );
  return { objects: reuseFor(CHECK_EVERY_MS, ask) };
}
