import { onTestFinished } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { SqliteDatabase } from "../../src/db/sqlite.ts";
import { openDatabase } from "./empty-database.ts";

const cleanups: (() => unknown)[] = [];

/**
 * Runs `cleanup` after the test, the last one first. (A hook of this module would be one of the
 * first test file that imports it, and of no other.)
 */
export function afterThisTest(cleanup: () => unknown): void {
  cleanups.push(cleanup);
  if (cleanups.length > 1) return;
  onTestFinished(async () => {
    for (const each of cleanups.splice(0).reverse()) await each();
  });
}

/** A new folder that is removed after the test. @param parent the folder in which it is */
export function temporaryFolder(parent = tmpdir()): string {
  const folder = mkdtempSync(join(parent, "ctxd-test-"));
  afterThisTest(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The database of a data folder (by default a new one), closed after the test. */
export function testDatabase(dataDir = temporaryFolder()): SqliteDatabase {
  const database = openDatabase(dataDir);
  afterThisTest(() => database.close());
  return database;
}

/** A clock that stands still until it is moved; starts at 2026-01-01. Milliseconds since 1970. */
export function testClock(start = Date.parse("2026-01-01T00:00:00Z")) {
  let now = start;
  return Object.assign(() => now, {
    advance(milliseconds: number) {
      now += milliseconds;
    },
  });
}
