import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Config } from "../../config/config.ts";
import { databasePath } from "../../db/data-lock.ts";
import { describeCommand } from "../../server/invocation.ts";
import { homeFolder, stateFolder } from "../../system/folders.ts";
import type { Environment } from "../context.ts";

/** Names the data folders that have held memories: a path a line, as JSON. It lies outside of all of them. */
const FILE = "data-folders";
/** The newest folders are kept. */
const MAX_FOLDERS = 100;

type Folder = Pick<Config, "dataDir" | "shared">;

/** Remembers that a data folder holds memories, for `describeLoss`. */
export function noteDataFolder({ dataDir, shared }: Folder, env: Environment): void {
  const home = homeFolder(env);
  const file = fileOf(env);
  if (shared || file === null || home === null || !existsSync(home)) return;
  const known = readFolders(file);
  const line = JSON.stringify(dataDir);
  if (known.includes(line)) return;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const lines = [...known, line].slice(-MAX_FOLDERS);
    writeFileSync(file, lines.map((each) => `${each}\n`).join(""), { mode: 0o600 });
  } catch {
    // Without this file a lost folder is not noticed, and all else works.
  }
}

/**
 * Says what to do if a data folder has held memories and has none any more: it was removed, or its disk is not mounted.
 * An agent that made a new folder there would seem to have forgotten everything, and a backup could not be restored to it.
 * @returns null for a folder that is there, or that has never been
 */
export function describeLoss(config: Folder, env: Environment): string | null {
  const { dataDir, shared } = config;
  const file = fileOf(env);
  if (shared || file === null || existsSync(databasePath(dataDir))) return null;
  if (!readFolders(file).includes(JSON.stringify(dataDir))) return null;
  const [restore, anew] = ["restore BACKUP", "serve"].map((words) =>
    describeCommand(words, config, env),
  );
  return `The memories in ${dataDir} are gone: bring that folder back (is its disk mounted?) or restore a backup (${restore}), or start anew without them (${anew}).`;
}

function fileOf(env: Environment): string | null {
  const folder = stateFolder(env);
  return folder === null ? null : join(folder, FILE);
}

function readFolders(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}
