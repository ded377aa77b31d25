import { statfs } from "node:fs/promises";
import { join } from "node:path";
import type { SharedSettings } from "../config/shared-settings.ts";
import { explainUnavailable } from "../db/database-error.ts";
import { connectPostgres, type Postgres } from "../db/postgres.ts";
import { checkSchema, readSchemaState } from "../db/postgres-migrations.ts";
import { createBaseFolder } from "../memories/base/base-folder.ts";
import { unwantedBases } from "../memories/base/sweep.ts";
import { readSharedFacts, recordedBases } from "../memories/log/postgres-checkpoints.ts";
import { createPostgresLog } from "../memories/log/postgres-log.ts";
import { checkObjectStore } from "../objects/check.ts";
import { createObjects } from "../objects/objects.ts";
import { nearestFolder } from "../system/mounts.ts";
import { checkCaptures } from "./captures.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** Number of the oldest supported PostgreSQL version. */
const OLDEST_VERSION = 140_000;
/** Milliseconds by which clocks may differ. Amazon S3 refuses a difference of 15 minutes. */
const TOLERANCE_MS = 60_000;
/** Age of an entry that should have been flushed long ago, in milliseconds. */
const OLD_MS = 24 * 3_600_000;

interface Options {
  settings: Pick<SharedSettings, "databaseUrl" | "objects" | "cacheBytes">;
  dataDir: string;
  /** Agents of this machine whose hooks capture. */
  capturing?: readonly string[];
  clock: () => number;
}

/** Checks the shared database and object store of replicas, and this machine's copies. */
export async function* checkShared({
  settings,
  dataDir,
  capturing = [],
  clock,
}: Options): AsyncGenerator<Finding> {
  const { databaseUrl, objects } = settings;
  const postgres = connectPostgres(databaseUrl, { sessions: 2 });
  try {
    const database = await attempt("database", () =>
      checkPostgres(postgres).catch((error) => {
        throw explainUnavailable(error, databaseUrl);
      }),
    );
    yield database;
    const { state, message } = await checkObjectStore(objects, { clock });
    yield findingsOf("object store")[state === "ok" ? "ok" : "problem"](message);
    if (database.state !== "problem") {
      yield await attempt("clock", () => checkClocks(postgres, clock));
      yield await attempt("journal", () => checkLog(postgres, clock()));
      yield* checkAgentsOf(postgres, { now: clock(), capturing });
    }
    if (database.state !== "problem" && state === "ok") {
      yield await attempt("tables", () => checkFiles(postgres, objects));
    }
    yield await attempt("local copies", () => checkCopies(join(dataDir, "memories"), settings));
  } finally {
    await postgres.close();
  }
}

/** What agents brought, once a server has migrated the schema to this version. */
async function* checkAgentsOf(
  postgres: Postgres,
  options: Parameters<typeof checkCaptures>[1],
): AsyncGenerator<Finding> {
  const [[uses] = []] = await postgres.rows("SELECT to_regclass('memory_uses')::text");
  if (uses) yield* checkCaptures(postgres.query, options);
}

/** Runs a check. An error is a problem. */
async function attempt(check: string, task: () => Promise<Finding>): Promise<Finding> {
  try {
    return await task();
  } catch (error) {
    return findingsOf(check).problem(`${reasonOf(error)}.`);
  }
}

async function checkPostgres(postgres: Postgres): Promise<Finding> {
  const { ok, problem } = findingsOf("database");
  const [row = []] = await postgres.rows(
    "SELECT current_setting('server_version'), current_setting('server_version_num')::integer, pg_is_in_recovery()",
  );
  const [version, number, isStandby] = row;
  const text = `PostgreSQL ${version}`;
  if (Number(number) < OLDEST_VERSION)
    return problem(`${text} is too old: ctxd needs 14 or later.`);
  if (isStandby === true) {
    return problem(`${text} is a standby: CTXD_DATABASE_URL must name the primary server.`);
  }
  const state = await readSchemaState(postgres);
  if (state === null) return ok(`${text}, empty: the first start creates the schema`);
  await checkSchema(postgres);
  return ok(`${text}, schema ${state.number}`);
}

async function checkClocks(postgres: Postgres, clock: () => number): Promise<Finding> {
  const { ok, problem } = findingsOf("clock");
  const before = clock();
  const [row = []] = await postgres.rows(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  );
  const middle = (before + clock()) / 2;
  const difference = Math.round((middle - Number(row[0])) / 1_000);
  if (Math.abs(difference) * 1_000 < TOLERANCE_MS) {
    return ok(`${new Date(middle).toISOString()}, the same as PostgreSQL`);
  }
  const way = difference < 0 ? "behind" : "ahead of";
  return problem(
    `this machine's clock is ${Math.abs(difference)} s ${way} PostgreSQL's: set it, otherwise memories get a wrong age and order.`,
  );
}

async function checkLog(postgres: Postgres, now: number): Promise<Finding> {
  const { ok, warning } = findingsOf("journal");
  if ((await readSchemaState(postgres)) === null) return ok("empty");
  const { entries, bytes, oldest, tables, overdue } = await readSharedFacts(postgres);
  const since = oldest === null ? "" : `, the oldest of ${new Date(oldest).toISOString()}`;
  const text = `${entries} entries (${formatBytes(bytes)})${since}, ${tables} tables`;
  if (overdue > 0) {
    return warning(
      `${text}, ${overdue} of them overdue for a flush: is a server running? Search its log for upkeep_failed.`,
    );
  }
  return oldest !== null && now - oldest > OLD_MS
    ? warning(
        `${text}: it should have been flushed by now. Search the server's log for upkeep_failed.`,
      )
    : ok(text);
}

/** Checks that the object store has the recorded bases and no others. */
async function checkFiles(postgres: Postgres, place: SharedSettings["objects"]): Promise<Finding> {
  const { ok, warning, problem } = findingsOf("tables");
  if ((await readSchemaState(postgres)) === null) return ok("none yet");
  const objects = createObjects(place);
  const { records } = createPostgresLog(postgres).shared;
  // Read before the listing, which need not contain bases that are recorded later.
  const missing = new Set(await recordedBases(postgres));
  const bases = missing.size;
  const listing = {
    async *folders() {
      for await (const page of objects.folders()) {
        for (const base of page) missing.delete(base);
        yield page;
      }
    },
  };
  let orphans = 0;
  for await (const unwanted of unwantedBases({ objects: listing, records })) {
    orphans += unwanted.length;
  }
  // A base that was replaced meanwhile is not missing.
  const stillRecorded = new Set(await recordedBases(postgres));
  const lost = [...missing].filter((base) => stillRecorded.has(base));
  if (lost.length > 0) {
    return problem(
      `${lost.length} of ${bases} bases have no files in the object store (${lost.slice(0, 3).join(", ")}): restore a backup.`,
    );
  }
  const text = `${bases} bases have their files in the object store`;
  return orphans > 0
    ? warning(
        `${text}, which also has files of ${orphans} unused bases: servers remove them within two hours.`,
      )
    : ok(text);
}

async function checkCopies(folder: string, { cacheBytes }: Options["settings"]): Promise<Finding> {
  const { ok, warning } = findingsOf("local copies");
  const local = createBaseFolder(folder);
  const bases = await local.bases();
  const sizes = await Promise.all(bases.map(local.bytes));
  const bytes = sizes.reduce((sum, each) => sum + each, 0);
  const { bavail, bsize } = await statfs(nearestFolder(folder));
  const text = `${bases.length} tables, ${formatBytes(bytes)} of ${formatBytes(cacheBytes)} (CTXD_CACHE_SIZE)`;
  const remaining = cacheBytes - bytes;
  return remaining > bavail * bsize
    ? warning(`${text}, but the disk of ${folder} has only ${formatBytes(bavail * bsize)} free.`)
    : ok(text);
}
