import type { Database as Sqlite } from "bun:sqlite";
import { copyFile, mkdir, mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { readWholeTable, type TableFacts } from "../memories/base/read-whole-table.ts";
import { accountOf, baseFolder, manifestFile } from "../memories/log/names.ts";
import {
  isNewestCheckpoint,
  type RecordedCheckpoint,
  readCheckpoints,
} from "../memories/log/recorded.ts";
import type { LanceDb } from "../native/lancedb.ts";
import { linkFile } from "../system/files.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** The folder of a base. */
const BASE = /^\w+(\.[0-9a-f]{8}){0,2}\.lance$/;
const REMEDY = "stop the server and restore a backup";

/**
 * Whether each table is what its checkpoint says. Without a server every row and index is read, at
 * the version of the checkpoint; with one, files come and go, so only they are looked at.
 */
export async function* checkTables(
  sqlite: Sqlite,
  { dataDir, lancedb }: { dataDir: string; lancedb: LanceDb | null },
): AsyncGenerator<Finding & { newest?: number | null }> {
  const checkpoints = readCheckpoints(sqlite);
  if (checkpoints.length === 0) yield findingsOf("tables").ok("none yet");
  for (const checkpoint of checkpoints) {
    const torn = await findTorn(dataDir, sqlite, checkpoint);
    const finding = findingsOf(`table ${checkpoint.table}`);
    if (torn) yield finding.problem(`${torn}: ${REMEDY}.`);
    else if (lancedb) yield await readTable(lancedb, dataDir, checkpoint);
    else yield finding.ok("its files are there (rows are read when no server runs)");
  }
}

/** Folders among the tables that no account uses. */
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
      // Of a running server it may be what it is writing, or has just replaced.
      if (isServed) continue;
      found = true;
      yield ok(`${path} was left by a crash: the next start removes it`);
      continue;
    }
    found = true;
    if (removed.has(accountId)) {
      yield ok(`${path} is of an account that was removed: a running server removes it too`);
    } else if (name.includes(".damaged-")) {
      yield warning(`${path} is what a crash left of a table before its first write: remove it.`);
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

/** A sentence for what is missing or empty, as far as file names and sizes tell. */
async function findTorn(
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
  // An earlier version of this program removed files of older versions; this one is of the version itself.
  const torn = sizes.find(({ file, size }) => size === 0 || (size === null && file === manifest));
  if (!torn || !isNewestCheckpoint(sqlite, checkpoint)) return null;
  return `${join(folder, torn.file)} is ${torn.size === null ? "missing" : "empty"}`;
}

async function readTable(
  lancedb: LanceDb,
  dataDir: string,
  { table, base, version, files }: RecordedCheckpoint,
): Promise<Finding & { newest?: number | null }> {
  const { ok, problem } = findingsOf(`table ${table}`);
  const folder = join(dataDir, baseFolder(base));
  // What a crash left in the folder beyond the checkpoint is not to be seen: the next start removes it.
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
    // One that an earlier version of this program removed was not needed; one that is will be missed.
    if ((await stat(join(from, file)).catch(() => null)) === null) continue;
    await mkdir(join(to, dirname(file)), { recursive: true });
    // LanceDB takes the length of a link for that of its manifest: that one is copied, which is small.
    const put = dirname(file) === "_versions" ? copyFile : linkFile;
    await put(join(from, file), join(to, file));
  }
}

function describe({ memories, rows, fragments, unindexed, model }: TableFacts): string {
  const indexes = unindexed > 0 ? `${unindexed} not in every index yet` : "all indexed";
  return `${memories} memories in ${rows} rows (${model}) and ${fragments} fragments, ${indexes},`;
}
