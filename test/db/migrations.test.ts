import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { is } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { createAccountTables } from "../../src/accounts/tables.ts";
import { createActivityTables } from "../../src/activity/tables.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { sqliteDialect } from "../../src/db/database.ts";
import { DatabaseError } from "../../src/db/database-error.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { migrateSqlite } from "../../src/db/sqlite-files.ts";
import { createKeyTables } from "../../src/keys/tables.ts";
import { createLikenessTables, createLogTables } from "../../src/memories/log/database-tables.ts";
import { createOAuthTables } from "../../src/oauth/tables.ts";
import { createSecurityTables } from "../../src/security-log/tables.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { createUndoTables } from "../../src/undo/tables.ts";
import { createUseTables } from "../../src/uses/tables.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";

const TABLES = [
  createAccountTables,
  createKeyTables,
  createLogTables,
  createLikenessTables,
  createSignInTables,
  createOAuthTables,
  createSecurityTables,
  createActivityTables,
  createUndoTables,
  createUseTables,
]
  .flatMap((create): unknown[] => Object.values(create(sqliteDialect)))
  .filter((table) => is(table, SQLiteTable));

function readVersion(sqlite: Database): unknown {
  return sqlite.query("PRAGMA user_version").values()[0]?.[0];
}

test.each(TABLES.map((table) => [getTableConfig(table).name, table] as const))(
  "the Drizzle table %s matches the migrated database table",
  (name, table) => {
    const { sqlite } = testDatabase();
    const made = sqlite
      .query<{ name: string; type: string; notnull: number; pk: number }, [string]>(
        'SELECT name, lower(type) AS type, "notnull", pk FROM pragma_table_info(?)',
      )
      .all(name)
      .map((column) => [column.name, column.type, column.notnull === 1, column.pk > 0]);
    const { columns, primaryKeys } = getTableConfig(table);
    const declared = columns.map((column) => [
      column.name,
      column.getSQLType(),
      column.notNull,
      column.primary || primaryKeys.some((key) => key.columns.includes(column)),
    ]);
    expect(declared).toEqual(made);
  },
);

test("the Drizzle tables match the migrated schema", () => {
  const { sqlite } = testDatabase();
  const made = sqlite
    .query("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .values()
    .flat();
  expect(made.sort()).toEqual(TABLES.map((table) => getTableConfig(table).name).sort());
});

test("a database runs and records every migration once", () => {
  const sqlite = new Database(":memory:");
  migrateSqlite(sqlite, ["CREATE TABLE first (id)"]);
  migrateSqlite(sqlite, [
    "CREATE TABLE first (id)",
    "CREATE TABLE second (id); CREATE TABLE third (id)",
  ]);
  expect(readVersion(sqlite)).toBe(2);
  const tables = sqlite.query("SELECT name FROM sqlite_schema ORDER BY name").values().flat();
  expect(tables).toEqual(["first", "second", "third"]);
});

test("a failed migration changes nothing, and earlier ones stay", () => {
  const sqlite = new Database(":memory:");
  const broken = ["CREATE TABLE first (id)", "CREATE TABLE second (id); CREATE TABLE first (id)"];
  expect(() => migrateSqlite(sqlite, broken)).toThrow("already exists");
  expect(readVersion(sqlite)).toBe(1);
  expect(sqlite.query("SELECT name FROM sqlite_schema").values().flat()).toEqual(["first"]);
});

test("a newer database is refused", () => {
  const sqlite = new Database(":memory:");
  sqlite.run(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
  expect(() => migrateSqlite(sqlite)).toThrow(DatabaseError);
});

test("concurrent starts with a new folder all get a complete database", async () => {
  const dataDir = join(temporaryFolder(), "data");
  const processes = Array.from({ length: 6 }, () =>
    Bun.spawn([process.execPath, "-e", openAndCount(dataDir)], { stdout: "pipe", stderr: "pipe" }),
  );
  for (const child of processes) {
    expect(await child.stderr.text()).toBe("");
    expect(await child.stdout.text()).toBe("0\n");
    expect(await child.exited).toBe(0);
  }
  expect(readVersion(testDatabase(dataDir).sqlite)).toBe(MIGRATIONS.length);
});

test("a process waits for the migration of another and continues after it", async () => {
  const dataDir = temporaryFolder();
  const other = new Database(databasePath(dataDir));
  other.run("PRAGMA journal_mode = WAL");
  other.run("BEGIN IMMEDIATE");
  other.run(MIGRATIONS[0] ?? "");
  other.run("PRAGMA user_version = 1");
  const child = Bun.spawn([process.execPath, "-e", openAndCount(dataDir)], { stderr: "pipe" });
  // Gives the child time to wait for the lock. Its waiting can't be observed.
  await Bun.sleep(500);
  other.run("COMMIT");
  other.close();
  expect(await child.stderr.text()).toBe("");
  expect(await child.exited).toBe(0);
});

/** A program that opens and thereby migrates the database, and counts its API keys. */
function openAndCount(dataDir: string): string {
  const source = (name: string) => JSON.stringify(join(import.meta.dir, "../../src/db", name));
  return `
    const { openSqlite } = await import(${source("sqlite.ts")});
    const { databasePath } = await import(${source("data-lock.ts")});
    const database = openSqlite(databasePath(${JSON.stringify(dataDir)}));
    console.log(database.sqlite.query("SELECT count(*) AS n FROM api_keys").get().n);
    database.close();
  `;
}
