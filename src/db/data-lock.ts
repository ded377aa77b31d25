import { SQLiteError, Database as Sqlite } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseError, explainDatabaseError } from "./database-error.ts";

/** The process that serves a data folder, as `owner.json` describes it. */
interface Owner {
  pid: number;
  /** Address of its server; null while it starts. */
  address: string | null;
  version: string;
  /** Whether a bridge started it. It ends when a person starts a server. */
  isBackground?: boolean;
}

export type DataLock = ReturnType<typeof lockDataFolder>;

/** Path of the database in a data folder. */
export function databasePath(dataDir: string): string {
  return join(dataDir, "ctxd.db");
}

const ownerPath = (dataDir: string) => join(dataDir, "owner.json");

/**
 * Creates a data folder that only this user can open.
 * @throws DatabaseError that says why it can't be created
 */
export function createDataFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw explainDatabaseError(error, databasePath(dataDir)) ?? error;
  }
}

/**
 * Locks a data folder for this process, see `lockFile`.
 * @throws DatabaseError that names the process that holds the lock, or says why the folder can't be used
 */
export function lockDataFolder(dataDir: string, version: string, isBackground = false) {
  let lock: ReturnType<typeof lockFile> = null;
  try {
    createDataFolder(dataDir);
    const held = lockFile(join(dataDir, "server.lock"));
    if (held === null) throw inUse(dataDir);
    lock = held;
    const announce = (address: string | null) => {
      const owner: Owner = { pid: process.pid, address, version, isBackground };
      writeFileSync(ownerPath(dataDir), JSON.stringify(owner));
    };
    announce(null);
    return {
      /** Writes the address of this server to `owner.json`. */
      announce,
      release(): void {
        rmSync(ownerPath(dataDir), { force: true });
        held.release();
      },
    };
  } catch (error) {
    lock?.release();
    if (error instanceof DatabaseError) throw error;
    throw explainDatabaseError(error, databasePath(dataDir)) ?? error;
  }
}

/**
 * Locks a file for this process; null when another process holds the lock. The lock is SQLite's lock on a file
 * without other use. The operating system releases it when the process ends in any way, so no stale lock remains.
 */
export function lockFile(path: string): { release(): void } | null {
  const lock = new Sqlite(path, { create: true });
  try {
    // Outlasts a concurrent `isLocked`, which holds the lock for a moment.
    lock.run("PRAGMA busy_timeout = 300");
    lock.run("BEGIN EXCLUSIVE");
    return { release: () => lock.close() };
  } catch (error) {
    lock.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

/** Whether SQLite failed because another process holds a lock. */
export function isBusy(error: unknown): boolean {
  return error instanceof SQLiteError && error.code === "SQLITE_BUSY";
}

/** Whether a process holds the lock of a data folder now. Changes nothing. */
export function isLocked(dataDir: string): boolean {
  const path = join(dataDir, "server.lock");
  if (!existsSync(path)) return false;
  try {
    using lock = new Sqlite(path, { readonly: true });
    // The lock also blocks readers.
    lock.query("SELECT 1 FROM sqlite_master").all();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw explainDatabaseError(error, path) ?? error;
  }
}

/** The process that serves a data folder; `null` when `owner.json` is missing or damaged. */
export function readOwner(dataDir: string): Owner | null {
  try {
    return JSON.parse(readFileSync(ownerPath(dataDir), "utf8"));
  } catch {
    return null;
  }
}

function inUse(dataDir: string): DatabaseError {
  const owner = readOwner(dataDir);
  const who = owner ? `process ${owner.pid}` : "another process";
  const where = owner?.address ? ` at ${owner.address}` : "";
  return new DatabaseError(
    `The data folder ${dataDir} is served by ${who}${where}: use that server, stop it, or choose another folder with --data-dir.`,
  );
}
