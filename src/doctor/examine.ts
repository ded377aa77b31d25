import type { Database as Sqlite } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { listSeries } from "../backup/schedule.ts";
import { readSchedule, type ScheduleSettings } from "../backup/schedule-settings.ts";
import { RESTORE_FOLDER } from "../backup/source.ts";
import type { Config } from "../config/config.ts";
import { databasePath } from "../db/data-lock.ts";
import { openReadOnly } from "../db/sqlite-files.ts";
import { BUILT_IN } from "../embedding/catalogue.ts";
import { readChoice } from "../embedding/model-choice.ts";
import { isCompiled } from "../native/embedded-asset.ts";
import type { LanceDb } from "../native/lancedb.ts";
import { CertificateError, readCertificate } from "../tls/certificate.ts";
import { checkCaptures, readerOf } from "./captures.ts";
import { checkDatabase, checkJournal, checkStrays, checkTables } from "./database.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";
import { checkCacheFolder, checkDataFolder, checkDisk } from "./folders.ts";
import {
  checkChosenModel,
  checkEmbedding,
  checkModelFiles,
  checkTableLibrary,
  createTrialCache,
} from "./model.ts";
import { checkPort, checkServer } from "./server.ts";
import { checkShared } from "./shared.ts";

/** Checks that a server with accounts has an owner. An earlier version allowed to remove the owner first. */
function checkOwner(sqlite: Sqlite): Finding {
  const { ok, problem } = findingsOf("owner");
  const counts = sqlite
    .query<{ owners: number; accounts: number }, []>(
      "SELECT count(*) AS accounts, count(*) FILTER (WHERE role = 'owner') AS owners FROM accounts",
    )
    .get();
  if (!counts?.accounts) return ok("no accounts yet");
  if (counts.owners > 0) return ok("one of the accounts owns this server");
  return problem(
    "there are accounts but no owner, so local agents can save nothing: choose an owner with ctxd user owner EMAIL.",
  );
}

/** Checks that the newest scheduled backup is recent enough. */
export async function checkBackups(
  backups: Pick<ScheduleSettings, "folder" | "every"> | null,
  now: number,
): Promise<Finding> {
  const { ok, warning, problem } = findingsOf("backups");
  const { folder = "", every = null } = backups ?? {};
  if (every === null) return ok("no backups are scheduled (CTXD_BACKUP_DIR)");
  try {
    const { complete } = await listSeries(folder, now);
    const newest = complete.at(-1);
    if (!newest) return warning(`${folder} has no backup yet: a running server creates one.`);
    const text = `${complete.length} in ${folder}, the newest of ${new Date(newest.at).toISOString()}`;
    return now - newest.at > 2 * every
      ? problem(`${text}, which is too old: see the server's log for the reason.`)
      : ok(text);
  } catch (error) {
    return problem(`${reasonOf(error)}: no backup can be created.`);
  }
}

const DAY = 24 * 3_600_000;
/** Programs renew certificates of 90 or 45 days before their last third, so earlier than this. */
const RENEW_BEFORE_MS = 10 * DAY;

/** Checks the certificate of the settings. Invalid settings were refused before. */
export function checkCertificate(tls: Config["tls"], now: number): Finding {
  const { ok, warning, problem } = findingsOf("settings");
  if (!tls) return ok("all are valid");
  try {
    const { names, expires } = readCertificate(tls);
    const remaining = expires.getTime() - now;
    const which = `the certificate for ${names.slice(0, 200)}`;
    const day = expires.toISOString().slice(0, 10);
    if (remaining < 0) return problem(`${which} expired on ${day}: renew ${tls.cert}.`);
    const until = `${which} is valid until ${day}`;
    return remaining < RENEW_BEFORE_MS ? warning(`${until}: renew ${tls.cert} soon.`) : ok(until);
  } catch (error) {
    if (error instanceof CertificateError) return problem(error.message);
    throw error;
  }
}

/** A time before this version of the program existed. */
const BUILT_AT = Date.UTC(2026, 0, 1);
/** Milliseconds by which the clocks of two machines may differ. */
const TOLERANCE_MS = 5 * 60_000;

/**
 * Checks that the clock is not before past events.
 * @param newest time of the newest known record, in milliseconds since 1970
 */
export function checkClock(now: number, newest: number | null): Finding {
  const { ok, problem } = findingsOf("clock");
  const text = new Date(now).toISOString();
  const remedy = "set the clock, otherwise memories get a wrong age and order";
  if (now < BUILT_AT) return problem(`${text} is before this program was built: ${remedy}.`);
  if (newest !== null && now + TOLERANCE_MS < newest) {
    return problem(
      `${text} is before the time of saved data (${new Date(newest).toISOString()}): ${remedy}.`,
    );
  }
  return ok(text);
}

/** Creation time of the newest account or API key; `null` without any. */
function newestRecord(sqlite: Sqlite): number | null {
  const sql = `SELECT max(at) AS newest FROM (SELECT created_at AS at FROM accounts
    UNION ALL SELECT created_at FROM api_keys)`;
  return sqlite.query<{ newest: number | null }, []>(sql).get()?.newest ?? null;
}

/**
 * Checks everything that a server needs, and yields one finding for each check. Changes nothing.
 * @param howToStart the command that starts a server
 * @param capturing agents of this machine whose hooks capture
 */
export async function* examine(
  config: Config,
  howToStart: string,
  capturing: readonly string[] = [],
): AsyncGenerator<Finding> {
  const { dataDir, cacheDir, shared } = config;
  yield findingsOf("version").ok(`ctxd ${version} on Bun ${Bun.version}`);
  yield checkCertificate(config.tls, Date.now());
  yield checkDataFolder(dataDir, shared ? null : howToStart);
  yield checkDisk(dataDir);
  const schedule = await readSchedule(config).catch((error: Error) => error);
  yield schedule instanceof Error
    ? findingsOf("backups").problem(reasonOf(schedule))
    : await checkBackups(schedule, Date.now());
  yield checkCacheFolder(cacheDir, isCompiled);
  const { isServed, ...server } = await checkServer(dataDir);
  yield server;
  yield await checkPort(config, isServed);
  const chosen = await readChoice(config).catch((error: Error) => error);
  const isBuiltIn = !(chosen instanceof Error) && (chosen.model ?? BUILT_IN) === BUILT_IN;
  if (isBuiltIn) yield await checkModelFiles(cacheDir);
  await using trial = await createTrialCache(cacheDir);
  const { finding, lancedb } = await checkTableLibrary(trial.folder);
  // Messages name the real cache folder instead of the trial.
  const withRealPath = (each: Finding): Finding => ({
    ...each,
    message: each.message.replaceAll(trial.folder, cacheDir),
  });
  yield withRealPath(finding);
  yield withRealPath(
    isBuiltIn
      ? await checkEmbedding(trial.folder)
      : await checkChosenModel(chosen, cacheDir, trial.folder),
  );
  yield* shared
    ? checkShared({ settings: shared, dataDir, capturing, clock: Date.now })
    : checkData({ dataDir, isServed, lancedb, capturing, now: Date.now() });
}

/** Checks the data: the database, the journal, the tables, and the clock against the newest record. */
export async function* checkData({
  dataDir,
  isServed,
  lancedb,
  capturing = [],
  now,
}: {
  dataDir: string;
  isServed: boolean;
  lancedb: LanceDb | null;
  capturing?: readonly string[];
  now: number;
}): AsyncGenerator<Finding> {
  if (existsSync(join(dataDir, RESTORE_FOLDER)) && !isServed) {
    yield findingsOf("restore").problem(
      `a restore to ${dataDir} was interrupted: run ctxd restore again.`,
    );
  }
  const path = databasePath(dataDir);
  if (!existsSync(path)) return yield checkClock(now, null);
  let sqlite: Sqlite;
  try {
    sqlite = openReadOnly(path, isServed);
  } catch (error) {
    yield findingsOf("database").problem(reasonOf(error));
    return yield checkClock(now, null);
  }
  try {
    const database = checkDatabase(sqlite, path);
    yield database;
    // Records of a damaged database are not reliable.
    if (database.state === "problem") return yield checkClock(now, null);
    yield checkOwner(sqlite);
    yield checkJournal(sqlite, { isServed, now });
    const newest = [newestRecord(sqlite)];
    const tables = checkTables(sqlite, { dataDir, lancedb: isServed ? null : lancedb });
    for await (const { newest: moment = null, ...finding } of tables) {
      newest.push(moment);
      yield finding;
    }
    // The next start migrates an earlier version.
    if (sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'memory_uses'").get()) {
      yield* checkCaptures(readerOf(sqlite), { now, capturing });
    }
    yield* checkStrays(sqlite, { dataDir, isServed });
    yield checkClock(now, Math.max(...newest.map((moment) => moment ?? 0)) || null);
  } finally {
    sqlite.close();
  }
}
