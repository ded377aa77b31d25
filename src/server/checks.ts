import { existsSync, statfsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Database } from "../db/database.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { CheckResult, Checks } from "../http/health.ts";
import type { Store } from "../memories/store.ts";

/** Bytes without which a group of writes may fail. */
const LEAST_SPACE = 16 << 20;
/** Milliseconds for which what was found of the disk counts: health may be asked for often. */
const FRESH = 2_000;
/** Seconds within which upkeep sees to every change, with as many again for a busy machine. */
const MOST_LAG = 120;
/** Milliseconds for which what was found of things elsewhere counts. */
const PROBED = 1_000;
const PROBE = "health-check";

/** How to find out whether each thing that a server depends on does its work. */
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
  /** Null where none are made on a schedule. */
  backups: { isLate(): boolean } | null;
}): Checks {
  const checkDb = () => checkDatabase(db);
  return {
    // A connection elsewhere is asked for less often than probes come.
    database: shared ? atMostEvery(PROBED, checkDb) : checkDb,
    ...checks,
    // What is in the folder may be lost where it is a copy, and all tables may be very many.
    memories: shared
      ? () => stateOf(opening)
      : () => checkTables(join(dataDir, "memories"), opening),
    disk: atMostEvery(FRESH, () => checkDisk(dataDir)),
    embedding: () => stateOf(embedder.ready()),
    ...(backups && { backups: () => (backups.isLate() ? "late" : "ok") }),
    vectors: () => checkVectors(opening),
    upkeep: () => checkUpkeep(opening),
  };
}

async function checkDatabase({ isReachable }: Pick<Database, "isReachable">): Promise<CheckResult> {
  return (await isReachable()) ? "ok" : "failed";
}

async function checkTables(
  folder: string,
  opening: Promise<Pick<Store, "accounts">>,
): Promise<CheckResult> {
  const state = await stateOf(opening);
  if (state !== "ok") return state;
  await (await opening).accounts();
  // The library takes a folder that is gone for an empty one.
  return existsSync(folder) ? "ok" : "failed";
}

/** Whether all vectors are the chosen model's; while they are not, the old ones answer. */
async function checkVectors(opening: Promise<Pick<Store, "reembedded">>): Promise<CheckResult> {
  const state = await stateOf(opening);
  const done = state === "ok" ? (await opening).reembedded() : null;
  return done === null ? state : `changing, ${Math.floor(done * 100)} % done`;
}

/** Whether what was written is in the tables' files in time, and what was deleted is not. */
async function checkUpkeep(opening: Promise<Pick<Store, "lag">>): Promise<CheckResult> {
  const state = await stateOf(opening);
  return state === "ok" && (await opening).lag() > MOST_LAG ? "late" : state;
}

/** Whether a file can be written, and synced, where everything is kept. */
async function checkDisk(dataDir: string): Promise<CheckResult> {
  const { bavail, bsize } = statfsSync(dataDir);
  if (bavail * bsize < LEAST_SPACE) return "failed";
  const path = join(dataDir, PROBE);
  try {
    await writeFile(path, new Uint8Array(4_096), { mode: 0o600, flush: true });
  } finally {
    await rm(path, { force: true });
  }
  return "ok";
}

/** How far something is that was begun, without waiting for it. */
function stateOf(work: Promise<unknown>): Promise<CheckResult> {
  return Promise.race([
    work.then(
      () => "ok" as const,
      () => "failed" as const,
    ),
    Bun.sleep(0).then(() => "loading" as const),
  ]);
}

/** A check whose result counts for so many milliseconds. */
export function atMostEvery(
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
