import { expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { DatabaseError, explainDatabaseError } from "../../src/db/database-error.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";

/** The message of the DatabaseError that `run` throws. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof DatabaseError) return error.message;
    throw error;
  }
  throw new Error("nothing was thrown");
}

test("only the owner can read file and folder", () => {
  const dataDir = join(temporaryFolder(), "new", "data");
  const database = testDatabase(dataDir);
  database.sqlite.run("CREATE TABLE probe (text TEXT)");
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const suffix of ["", "-wal", "-shm"]) {
    expect(statSync(databasePath(dataDir) + suffix).mode & 0o777).toBe(0o600);
  }
});

test("a folder that exists keeps its mode", () => {
  const dataDir = temporaryFolder();
  const before = statSync(dataDir).mode;
  testDatabase(dataDir);
  expect(statSync(dataDir).mode).toBe(before);
});

test.each([
  ["journal_mode", "wal"],
  ["synchronous", 2],
  ["foreign_keys", 1],
  ["busy_timeout", 5000],
  ["secure_delete", 1],
])("pragma %s is %p, also after an attempt", async (pragma, value) => {
  const { sqlite, attempt } = testDatabase();
  const read = () => Object.values(sqlite.query(`PRAGMA ${pragma}`).get() ?? {})[0];
  expect(read()).toBe(value);
  await attempt(async () => sqlite.run("CREATE TABLE probe (text TEXT)"));
  await attempt(async () => sqlite.run("no SQL"));
  expect(read()).toBe(value);
});

test("an attempt fails immediately while another process writes", async () => {
  const dataDir = temporaryFolder();
  const writer = testDatabase(dataDir);
  const other = testDatabase(dataDir);
  writer.sqlite.run("BEGIN IMMEDIATE");
  const start = performance.now();
  expect(await other.attempt(async () => other.sqlite.run("DELETE FROM accounts"))).toBe(false);
  expect(performance.now() - start).toBeLessThan(500);
  writer.sqlite.run("ROLLBACK");
  expect(await other.attempt(async () => other.sqlite.run("DELETE FROM accounts"))).toBe(true);
});

test("an attempt throws other errors", async () => {
  const { attempt } = testDatabase();
  const broken = async () => {
    throw new TypeError("a bug");
  };
  expect(await outcomeOf(attempt(broken))).toThrow(TypeError);
});

test("written rows exist after close and open", async () => {
  const dataDir = temporaryFolder();
  const first = openSqlite(databasePath(dataDir));
  first.sqlite.run("CREATE TABLE probe (text TEXT)");
  first.sqlite.run("INSERT INTO probe VALUES ('kept')");
  await first.close();
  const second = testDatabase(dataDir);
  expect(second.sqlite.query("SELECT text FROM probe").get()).toEqual({ text: "kept" });
});

test("no file contains deleted rows after the log is truncated", () => {
  const dataDir = temporaryFolder();
  const { sqlite, truncateLog } = testDatabase(dataDir);
  sqlite.run("CREATE TABLE probe (text TEXT)");
  sqlite.run("INSERT INTO probe VALUES ('remarkable')");
  sqlite.run("DELETE FROM probe");
  expect(readFileSync(`${databasePath(dataDir)}-wal`).includes("remarkable")).toBe(true);
  expect(truncateLog()).toBe(true);
  for (const suffix of ["", "-wal"]) {
    expect(readFileSync(databasePath(dataDir) + suffix).includes("remarkable")).toBe(false);
  }
});

test("a file that is no database is named and not changed", () => {
  const dataDir = temporaryFolder();
  const text = "not a database at all, just some text that someone put there\n".repeat(20);
  writeFileSync(databasePath(dataDir), text);
  const message = refusal(() => openSqlite(databasePath(dataDir)));
  expect(message).toContain(databasePath(dataDir));
  expect(message).toContain("damaged or not a database of ctxd");
  expect(readFileSync(databasePath(dataDir), "utf8")).toBe(text);
});

test("a folder that can't be created is named", () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  const message = refusal(() => openSqlite(databasePath(join(file, "data"))));
  expect(message).toContain(join(file, "data"));
  expect(message).toContain("--data-dir");
  expect(message).not.toContain("\n");
});

test("a database of a newer program is refused and not changed", async () => {
  const dataDir = temporaryFolder();
  const first = openSqlite(databasePath(dataDir));
  first.sqlite.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  await first.close();
  expect(refusal(() => openSqlite(databasePath(dataDir)))).toContain("newer ctxd");
});

test("a full disk is reported as full", () => {
  const { sqlite } = testDatabase();
  sqlite.run("CREATE TABLE probe (bytes BLOB)");
  sqlite.run("PRAGMA max_page_count = 20");
  let failure: unknown;
  try {
    sqlite.run("INSERT INTO probe VALUES (zeroblob(1000000))");
  } catch (error) {
    failure = error;
  }
  expect(explainDatabaseError(failure, "/data/ctxd.db")?.message).toBe(
    "The database /data/ctxd.db can't be written because the disk is full: free some space and try again.",
  );
});

test("only errors of the database and the file system are explained", () => {
  const { sqlite } = testDatabase();
  expect(explainDatabaseError(new TypeError("a bug"), "x")).toBeNull();
  expect(explainDatabaseError("text", "x")).toBeNull();
  try {
    sqlite.run("INSERT INTO api_keys (id) VALUES ('key_1')");
  } catch (error) {
    expect(explainDatabaseError(error, "x")).toBeNull();
  }
  expect.assertions(3);
});
