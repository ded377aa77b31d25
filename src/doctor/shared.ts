import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { connectPostgres, type Postgres } from "../db/postgres.ts";
import { checkSchema, readSchemaState } from "../db/postgres-migrations.ts";
import { createBaseFolder } from "../memories/base/base-folder.ts";
import { unwantedBases } from "../memories/base/sweep.ts";
import { readSharedFacts, recordedBases } from "../memories/log/postgres-facts.ts";
import { createPostgresLog } from "../memories/log/postgres-log.ts";
import { checkObjectStore } from "../objects/check.ts";
import { createObjects } from "../objects/objects.ts";
import type { SharedSettings } from "../shared-settings.ts";
import { nearestFolder } from "../system/mounts.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** PostgreSQL's number of the oldest version that will do. */
const OLDEST = 140_000;
/** Milliseconds by which clocks may differ. Amazon S3 refuses a quarter of an hour. */
const TOLERANCE = 60_000;
/** Milliseconds after which a change should have been flushed long ago. */
const OLD = 24 * 3_600_000;

interface Options {
  settings: Pick<SharedSettings, "databaseUrl" | "objects" | "cacheBytes">;
  dataDir: string;
  clock: () => number;
  /** What an error of PostgreSQL means, in a sentence that has no password. */
  explain: (error: unknown, databaseUrl: string) => unknown;
}

/** Looks at what several servers share, and at this machine's copies of it. */
export async function* checkShared({
  settings,
  dataDir,
  clock,
  explain,
}: Options): AsyncGenerator<Finding> {
  const { databaseUrl, objects } = settings;
  const postgres = connectPostgres(databaseUrl, { sessions: 2 });
  try {
    const database = await attempt("database", () => checkPostgres(postgres), {
      explain: (error) => explain(error, databaseUrl),
    });
    yield database;
    const store = await checkStore(settings, clock);
    yield store;
    if (database.state !== "problem") {
      yield await attempt("clock", () => checkClocks(postgres, clock));
      yield await attempt("journal", () => checkLog(postgres, clock()));
    }
    if (database.state !== "problem" && store.state === "ok") {
      yield await attempt("tables", () => checkFiles(postgres, objects));
    }
    yield await attempt("local copies", () => checkCopies(join(dataDir, "memories"), settings));
  } finally {
    await postgres.close();
  }
}

/** A check that can't be made has failed. */
async function attempt(
  check: string,
  task: () => Promise<Finding>,
  { explain = (error: unknown) => error } = {},
): Promise<Finding> {
  try {
    return await task();
  } catch (error) {
    return findingsOf(check).problem(`${reasonOf(explain(error))}.`);
  }
}

async function checkPostgres(postgres: Postgres): Promise<Finding> {
  const { ok, problem } = findingsOf("database");
  const [row = []] = await postgres.rows(
    "SELECT current_setting('server_version'), current_setting('server_version_num')::integer, pg_is_in_recovery()",
  );
  const [version, number, isStandby] = row;
  const text = `PostgreSQL ${version}`;
  if (Number(number) < OLDEST) return problem(`${text} is too old: ctxd needs 14 or later.`);
  if (isStandby === true) {
    return problem(
      `${text} is a standby: CTXD_DATABASE_URL must name the server that is written to.`,
    );
  }
  const state = await readSchemaState(postgres);
  if (state === null) return ok(`${text}, empty: the first start sets it up`);
  await checkSchema(postgres);
  return ok(`${text}, schema ${state.number}`);
}

async function checkStore({ objects }: Options["settings"], clock: () => number): Promise<Finding> {
  const { ok, problem } = findingsOf("object store");
  const { state, message } = await checkObjectStore(objects, { clock });
  return state === "ok" ? ok(message) : problem(message);
}

async function checkClocks(postgres: Postgres, clock: () => number): Promise<Finding> {
  const { ok, problem } = findingsOf("clock");
  const before = clock();
  const [row = []] = await postgres.rows(
    "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint",
  );
  const middle = (before + clock()) / 2;
  const difference = Math.round((middle - Number(row[0])) / 1_000);
  if (Math.abs(difference) * 1_000 < TOLERANCE) {
    return ok(`${new Date(middle).toISOString()}, as in PostgreSQL`);
  }
  const way = difference < 0 ? "behind" : "ahead of";
  return problem(
    `this machine's is ${Math.abs(difference)} s ${way} PostgreSQL's: set it, or memories get a wrong age and a wrong order.`,
  );
}

async function checkLog(postgres: Postgres, now: number): Promise<Finding> {
  const { ok, warning } = findingsOf("journal");
  if ((await readSchemaState(postgres)) === null) return ok("empty");
  const { entries, bytes, oldest, tables, overdue } = await readSharedFacts(postgres);
  const since = oldest === null ? "" : `, the oldest of ${new Date(oldest).toISOString()}`;
  const text = `${entries} writes (${formatBytes(bytes)})${since}, ${tables} tables`;
  if (overdue > 0) {
    return warning(
      `${text}, ${overdue} of them late to be flushed: is a server running? Look for upkeep_failed in its log.`,
    );
  }
  return oldest !== null && now - oldest > OLD
    ? warning(`${text}: it should have been flushed by now. Look for upkeep_failed in the log.`)
    : ok(text);
}

/** Whether the object store has the bases of all tables, and no others. */
async function checkFiles(postgres: Postgres, place: SharedSettings["objects"]): Promise<Finding> {
  const { ok, warning, problem } = findingsOf("tables");
  if ((await readSchemaState(postgres)) === null) return ok("none yet");
  const objects = createObjects(place);
  const { records } = createPostgresLog(postgres).shared;
  // Read before the listing: what is recorded later need not be in it.
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
  // What has gone meanwhile is not missing: another base has taken its place.
  const stillRecorded = new Set(await recordedBases(postgres));
  const lost = [...missing].filter((base) => stillRecorded.has(base));
  if (lost.length > 0) {
    return problem(
      `${lost.length} of ${bases} have no files in the object store (${lost.slice(0, 3).join(", ")}): restore a backup.`,
    );
  }
  const text = `${bases} have their files in the object store`;
  return orphans > 0
    ? warning(
        `${text}, which has files of ${orphans} that are not wanted: servers remove them within two hours.`,
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
  const left = cacheBytes - bytes;
  return left > bavail * bsize
    ? warning(`${text}, and the disk of ${folder} has ${formatBytes(bavail * bsize)} left.`)
    : ok(text);
}
