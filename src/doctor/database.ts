import type { Database as Sqlite } from "bun:sqlite";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { explainDatabaseError } from "../db/database-error.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import { schemaVersion } from "../db/sqlite-files.ts";
import { readWholeTable, type TableFacts } from "../memories/base/connection.ts";
import { accountOf, baseFolder, manifestFile } from "../memories/log/log.ts";
import {
  isNewestCheckpoint,
  type RecordedCheckpoint,
  readCheckpoints,
  readLogFacts,
} from "../memories/log/records.ts";
import type { LanceDb } from "../native/lancedb.ts";
import { linkFile } from "../system/files.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** Age of an entry that a running server should have flushed long ago, in milliseconds. */
const OLD_MS = 10 * 60_000;

/** Checks the integrity and the schema of the database. */
export function checkDatabase(sqlite: Sqlite, path: string): Finding {
  const { ok, problem } = findingsOf("database");
  try {
    const [answer] = sqlite.query("PRAGMA integrity_check(1)").values().flat();
    if (answer !== "ok") return problem(`${path} is damaged (${answer}): restore a backup.`);
    const [orphan] = sqlite.query<{ table: string }, []>("PRAGMA foreign_key_check").all();
    if (orphan) {
      return problem(
        `${path} has rows in ${orphan.table} that refer to missing rows: restore a backup.`,
      );
    }
    const schema = schemaVersion(sqlite);
    const known = MIGRATIONS.length;
    if (schema > known) {
      return problem(`${path} was written by a newer ctxd (schema ${schema}): use that version.`);
    }
    const older = schema < known ? `, which the next start migrates to ${known}` : "";
    return ok(`intact, schema ${schema}${older}`);
  } catch (error) {
    return problem(reasonOf(explainDatabaseError(error, path) ?? error));
  }
}

/** Checks that entries of the journal are flushed. */
export function checkJournal(
  sqlite: Sqlite,
  { isServed, now }: { isServed: boolean; now: number },
): Finding {
  const { ok, warning } = findingsOf("journal");
  const { entries, bytes, oldest } = readLogFacts(sqlite);
  if (entries === 0) return ok("empty");
  const age = oldest === null ? null : now - oldest;
  const since = oldest === null ? "" : `, the oldest of ${new Date(oldest).toISOString()}`;
  const text = `${entries} entries (${formatBytes(bytes)})${since}`;
  if (!isServed) return ok(`${text}: the next start flushes them`);
  if (age === null || age < OLD_MS) return ok(text);
  return warning(
    `${text}: they should have been flushed by now. Search the server's log for upkeep_failed.`,
  );
}

/** Folder name of a base. */
const BASE = /^\w+(\.[0-9a-f]{8}){0,2}\.lance$/;
const REMEDY = "stop the server and restore a backup";

/**
 * Checks each table against its checkpoint. Without a running server it reads every row and index at the
 * version of the checkpoint. With one it checks only the files, because they change meanwhile.
 */
export async function* checkTables(
  sqlite: Sqlite,
  { dataDir, lancedb }: { dataDir: string; lancedb: LanceDb | null },
): AsyncGenerator<Finding & { newest?: number | null }> {
  const checkpoints = readCheckpoints(sqlite);
  if (checkpoints.length === 0) yield findingsOf("tables").ok("none yet");
  for (const checkpoint of checkpoints) {
    const damaged = await findDamagedFile(dataDir, sqlite, checkpoint);
    const finding = findingsOf(`table ${checkpoint.table}`);
    if (damaged) yield finding.problem(`${damaged}: ${REMEDY}.`);
    else if (lancedb) yield await readTable(lancedb, dataDir, checkpoint);
    else yield finding.ok("its files exist (rows are checked when no server is running)");
  }
}

/** Finds folders among the tables that no account uses. */
export async function* checkStrays(
  sqlite: Sqlite,
  { dataDir, isServed }: { dataDir: string; isServed: boolean },
): AsyncGenerator<Finding> {
  const { ok, warning } = findingsOf("other folders");
  const folder = join(dataDir, "memories");
  const accounts = idsOf(sqlite, "accounts");
  const removed = idsOf(sqlite, "removed_accounts");
  const inUse = new Set(readCheckpoints(sqlite).map(({ base }) => `${base}.lance`));
  let found = false;
  for (const name of await readdir(folder).catch(() => [])) {
    const accountId = accountOf(name);
    if (inUse.has(name)) continue;
    const path = join(folder, name);
    if (accounts.has(accountId) && BASE.test(name)) {
      // A running server may be writing it or have just replaced it.
      if (isServed) continue;
      found = true;
      yield ok(`${path} was left by a crash: the next start removes it`);
      continue;
    }
    found = true;
    if (removed.has(accountId)) {
      yield ok(`${path} belongs to a removed account: a running server removes it`);
    } else if (name.includes(".damaged-")) {
      yield warning(`${path} was left by a crash before the first write of a table: remove it.`);
    } else {
      yield warning(`${path} belongs to no account: if you don't know what it is, move it away.`);
    }
  }
  if (!found) yield ok("none");
}

function idsOf(sqlite: Sqlite, table: "accounts" | "removed_accounts"): Set<string> {
  return new Set(
    sqlite
      .query<{ id: string }, []>(`SELECT id FROM ${table}`)
      .all()
      .map(({ id }) => id),
  );
}

/** Finds a missing or empty file. Returns a description, or null. */
async function findDamagedFile(
  dataDir: string,
  sqlite: Sqlite,
  checkpoint: RecordedCheckpoint,
): Promise<string | null> {
  const folder = join(dataDir, baseFolder(checkpoint.base));
  const sizes = await Promise.all(
    checkpoint.files.map(async (file) => {
      const info = await stat(join(folder, file)).catch(() => null);
      return { file, size: info?.size ?? null };
    }),
  );
  const manifest = manifestFile(checkpoint.version);
  // An earlier version of this program removed unneeded files, but never the manifest of this version.
  const damaged = sizes.find(
    ({ file, size }) => size === 0 || (size === null && file === manifest),
  );
  if (!damaged || !isNewestCheckpoint(sqlite, checkpoint)) return null;
  return `${join(folder, damaged.file)} is ${damaged.size === null ? "missing" : "empty"}`;
}

async function readTable(
  lancedb: LanceDb,
  dataDir: string,
  { table, base, version, files }: RecordedCheckpoint,
): Promise<Finding & { newest?: number | null }> {
  const { ok, problem } = findingsOf(`table ${table}`);
  const folder = join(dataDir, baseFolder(base));
  // A view of the checkpoint only: a crash may have left other files, which the next start removes.
  const view = await mkdtemp(join(tmpdir(), "ctxd-doctor-"));
  try {
    await link(folder, join(view, `${base}.lance`), files);
    const facts = await readWholeTable(lancedb, view, base, version);
    return { ...ok(`${describe(facts)} at version ${version}`), newest: facts.newest };
  } catch (error) {
    const reason = reasonOf(error).replaceAll(view.slice(1), join(dataDir, "memories").slice(1));
    return problem(`${folder} can't be read (${reason}): ${REMEDY}.`);
  } finally {
    await rm(view, { recursive: true, force: true });
  }
}

async function link(from: string, to: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    // A missing file may be unneeded (an earlier version removed such files). If not, reading fails.
    if ((await stat(join(from, file)).catch(() => null)) === null) continue;
    await mkdir(join(to, dirname(file)), { recursive: true });
    // The manifest is copied: LanceDB would take the length of a symbolic link for that of the manifest.
    const place = dirname(file) === "_versions" ? copyFile : linkFile;
    await place(join(from, file), join(to, file));
  }
}

function describe({ memories, rows, fragments, unindexed, model }: TableFacts): string {
  const indexes = unindexed > 0 ? `${unindexed} not in every index yet` : "all indexed";
  return `${memories} memories in ${rows} rows (${model}) and ${fragments} fragments, ${indexes},`;
}
