import type { Database as Sqlite } from "bun:sqlite";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { UNFINISHED } from "../backup/unfinished-restore.ts";
import type { Config } from "../config/config.ts";
import { databasePath } from "../db/sqlite.ts";
import { openReadOnly } from "../db/sqlite-files.ts";
import { BUILT_IN } from "../embedding/catalogue.ts";
import { readChoice } from "../embedding/model-choice.ts";
import { isCompiled } from "../native/embedded-asset.ts";
import type { Ask } from "./ask.ts";
import { checkBackups } from "./backups.ts";
import { checkCertificate } from "./certificate.ts";
import { checkClock, newestRecord } from "./clock.ts";
import { checkDatabase, checkJournal } from "./database.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";
import { checkCacheFolder, checkDataFolder, checkDisk } from "./folders.ts";
import {
  checkChosenModel,
  checkEmbedding,
  checkModelFiles,
  checkTableLibrary,
  createTrialCache,
} from "./model.ts";
import { checkOwner } from "./owner.ts";
import { checkPort, checkServer } from "./server.ts";
import { checkShared } from "./shared.ts";
import { checkStrays, checkTables } from "./tables.ts";

/** Checks everything that a server needs, and yields one finding for each check. Changes nothing. */
export async function* examine({
  config,
  version,
  clock,
  howToStart,
  askLocally,
  explainDatabase,
}: {
  config: Config;
  /** Version of this program. */
  version: string;
  clock: () => number;
  /** The command that starts a server. */
  howToStart: string;
  /** Sends requests to the server of the data folder over its socket. */
  askLocally: Ask;
  /** Explains an error of a shared database. */
  explainDatabase: (error: unknown, databaseUrl: string) => unknown;
}): AsyncGenerator<Finding> {
  const { dataDir, cacheDir, shared } = config;
  yield findingsOf("version").ok(`ctxd ${version} on Bun ${Bun.version}`);
  yield checkCertificate(config.tls, clock());
  yield checkDataFolder(dataDir, shared ? null : howToStart);
  yield checkDisk(dataDir);
  yield await checkBackups(config.backups, clock());
  yield checkCacheFolder(cacheDir, isCompiled);
  const { isServed, ...server } = await checkServer(dataDir, askLocally);
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
    ? checkShared({ settings: shared, dataDir, clock, explain: explainDatabase })
    : checkData({ dataDir, isServed, lancedb, now: clock() });
}

type Data = {
  dataDir: string;
  isServed: boolean;
  lancedb: Parameters<typeof checkTables>[1]["lancedb"];
  now: number;
};

/** Checks the data: the database, the journal, the tables, and the clock against the newest record. */
export async function* checkData({
  dataDir,
  isServed,
  lancedb,
  now,
}: Data): AsyncGenerator<Finding> {
  if (existsSync(join(dataDir, UNFINISHED)) && !isServed) {
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
    yield* checkStrays(sqlite, { dataDir, isServed });
    yield checkClock(now, newest.reduce(latest, null));
  } finally {
    sqlite.close();
  }
}

function latest(a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : Math.max(a, b);
}
