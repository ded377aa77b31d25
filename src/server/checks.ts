import { existsSync, statfsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { CheckResult, Checks } from "../http/health.ts";
import type { Store } from "../memories/store/store.ts";
import type { ServerBackups } from "./backup-schedule.ts";

/** Free bytes on the disk below which a group of writes may fail. */
const MIN_FREE_BYTES = 16 << 20;
/** Milliseconds for which a check of the disk is reused: monitors may ask often. */
const DISK_CHECK_MS = 2_000;
/** Seconds that upkeep may lag behind: 60, doubled for a busy machine. */
const MAX_LAG_SECONDS = 120;
/** Milliseconds for which a check of a remote database is reused. */
const REMOTE_CHECK_MS = 1_000;
const PROBE_FILE = "health-check";

/** The checks of everything that the server depends on. */
export function createChecks({
  config: { dataDir, shared },
  data: { db, checks },
  opening,
  embedder,
  backups,
}: {
  config: Pick<Config, "dataDir" | "shared">;
  data: { db: Pick<Database, "isReachable">; checks: Checks };
  opening: Promise<Pick<Store, "accounts" | "reembedded" | "lag">>;
  embedder: Pick<Embedder, "ready">;
  backups: Pick<ServerBackups, "isLate" | "settings">;
}): Checks {
  const checkDb = async () => ((await db.isReachable()) ? "ok" : "failed");
  return {
    database: shared ? reuseFor(REMOTE_CHECK_MS, checkDb) : checkDb,
    ...checks,
    // A replica's folder has copies, which may be lost, and listing all its tables may take long.
    memories: shared
      ? () => stateOf(opening)
      : () => checkTables(join(dataDir, "memories"), opening),
    disk: reuseFor(DISK_CHECK_MS, () => checkDisk(dataDir)),
    embedding: () => stateOf(embedder.ready()),
    backups: () => backups.settings() && (backups.isLate() ? "late" : "ok"),
    vectors: () => checkVectors(opening),
    upkeep: () => checkUpkeep(opening),
  };
}

async function checkTables(
  folder: string,
  opening: Promise<Pick<Store, "accounts">>,
): Promise<CheckResult> {
  const state = await stateOf(opening);
  if (state !== "ok") return state;
  await (await opening).accounts();
  // LanceDB treats a missing folder as an empty one.
  return existsSync(folder) ? "ok" : "failed";
}

/** Whether all vectors are of the chosen model. While they are rebuilt, searches use the old ones. */
async function checkVectors(opening: Promise<Pick<Store, "reembedded">>): Promise<CheckResult> {
  const state = await stateOf(opening);
  const done = state === "ok" ? (await opening).reembedded() : null;
  return done === null ? state : `changing, ${Math.floor(done * 100)} % done`;
}

/** Whether upkeep writes changes into the files, and deleted data out of them, in time. */
async function checkUpkeep(opening: Promise<Pick<Store, "lag">>): Promise<CheckResult> {
  const state = await stateOf(opening);
  return state === "ok" && (await opening).lag() > MAX_LAG_SECONDS ? "late" : state;
}

/** Whether a file in the data folder can be written and synced. */
async function checkDisk(dataDir: string): Promise<CheckResult> {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < MIN_FREE_BYTES) return "failed";
  const path = join(dataDir, PROBE_FILE);
  try {
    await writeFile(path, new Uint8Array(4_096), { mode: 0o600, flush: true });
  } finally {
    await rm(path, { force: true });
  }
  return "ok";
}

/** The state of a promise, without waiting for it. */
function stateOf(work: Promise<unknown>): Promise<CheckResult> {
  return Promise.race([
    work.then(
      () => "ok" as const,
      () => "failed" as const,
    ),
    Bun.sleep(0).then(() => "loading" as const),
  ]);
}

/** Reuses the result of a check for an interval in milliseconds. */
export function reuseFor(
  interval: number,
  check: () => Promise<CheckResult>,
): () => Promise<CheckResult> {
  let last: Promise<CheckResult> | null = null;
  let askedAt = 0;
  return () => {
    if (last && performance.now() - askedAt < interval) return last;
    askedAt = performance.now();
    last = check();
    return last;
  };
}
