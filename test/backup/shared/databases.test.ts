import { Database as Sqlite } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { beginBases, fillSharedDatabase } from "../../../src/backup/shared/restore-shared.ts";
import { tablesOf } from "../../../src/backup/shared/rows.ts";
import { copySharedDatabase } from "../../../src/backup/shared/shared-source.ts";
import { connectPostgres, type Postgres } from "../../../src/db/postgres.ts";
import { migrateSqlite } from "../../../src/db/sqlite-files.ts";
import { temporaryFolder } from "../../support/database.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { type PostgresDatabase, sharedPostgres } from "../../support/postgres.ts";
import { migrated } from "../../support/shared-place.ts";
import { sharedTables } from "../../support/shared-tables.ts";
import { addSomeRows } from "../../support/some-rows.ts";

/** Columns and database tables that only one kind of database has. They are not copied. */
const SHARED_ALONE = ["bases", "copies", "ephemeral", "ctxd_schema"];
/** Database tables whose rows are not copied: memories are compared again. */
const COMPARED_AGAIN = ["comparisons", "likenesses", "uncompared"];
/** Columns whose numbers differ between the databases. The order of entries is the same. */
const RENUMBERED: Readonly<Record<string, string>> = {
  heads: "name, memories, bytes, expires_at",
  checkpoints: "account_id, version, files, base",
  journal: "account_id, written, removed, has_remains, at",
};

const NOW = Date.UTC(2026, 0, 1);

let database: PostgresDatabase;
let postgres: Postgres;
beforeAll(async () => {
  database = await (await sharedPostgres()).database(migrated);
  postgres = connectPostgres(database.url);
}, 120_000);
afterAll(async () => {
  await postgres.close();
  await database[Symbol.asyncDispose]();
});

const rowsOf = (sqlite: Sqlite, table: string) => {
  const order = table === "journal" ? "account_id, seq" : "1";
  return sqlite.query(`SELECT ${RENUMBERED[table] ?? "*"} FROM ${table} ORDER BY ${order}`).all();
};

test("all database tables are copied to PostgreSQL and back, with every column", async () => {
  const from = new Sqlite(":memory:");
  migrateSqlite(from);
  const tables = tablesOf(from);
  for (const suffix of ["x", "y"]) addSomeRows(from, tables, suffix);
  // Rows of a removed account, and of a table that was being embedded with another model.
  from.run("INSERT INTO tables VALUES ('acc_gone', 'acc_gone', '')");
  for (const name of ["acc_gone", "acc_x.0badcafe"]) {
    from.run("INSERT INTO heads (name, seq) VALUES (?, 3)", [name]);
    from.run("INSERT INTO journal (account_id, removed) VALUES (?, '[]')", [name]);
  }
  // Rows of another account, before and after its checkpoint.
  from.run("UPDATE checkpoints SET up_to = iif(account_id = 'acc_y', 2, 0)");
  for (const name of ["acc_x", "acc_y", "acc_x"]) {
    from.run("INSERT INTO journal (account_id, removed, at) VALUES (?, '[]', 18)", [name]);
  }
  const bases = checkpointsOf(from);
  await beginBases(postgres, bases, NOW, () => ({}));
  await fillSharedDatabase(postgres, from, { bases, now: NOW });
  const path = join(temporaryFolder(), "copy.db");
  await copySharedDatabase(postgres, path);
  const to = new Sqlite(path);
  from.run("DELETE FROM journal WHERE account_id = 'acc_y' AND seq <= 2");
  for (const [table, name] of [
    ["heads", "name"],
    ["tables", "name"],
    ["journal", "account_id"],
  ]) {
    from.run(`DELETE FROM ${table} WHERE ${name} IN ('acc_gone', 'acc_x.0badcafe')`);
  }
  for (const table of tables) {
    const rows = rowsOf(to, table);
    const isEmpty = COMPARED_AGAIN.includes(table);
    expect({ table, rows }).toEqual({ table, rows: isEmpty ? [] : rowsOf(from, table) });
    expect({ table, isEmpty: rows.length === 0 }).toEqual({ table, isEmpty });
  }
  // In both, no entry is before the checkpoint, the head is the newest entry, and all numbers are unique.
  expect(to.query("SELECT name, seq FROM heads ORDER BY name").all()).toEqual([
    { name: "acc_x", seq: 3 },
    { name: "acc_y", seq: 4 },
  ]);
  expect(to.query("SELECT DISTINCT up_to FROM checkpoints").all()).toEqual([{ up_to: 0 }]);
  expect(
    await postgres.query(
      `SELECT h.name, h.seq - $1 AS last, c.up_to - $1 AS included, string_agg((j.seq - $1)::text, ' ' ORDER BY j.seq) AS numbers
       FROM heads h JOIN journal j USING (name) JOIN checkpoints c USING (name) GROUP BY 1, 2, 3 ORDER BY 1`,
      [NOW],
    ),
  ).toEqual([
    { name: "acc_x", last: 3, included: 0, numbers: "1 2 3" },
    { name: "acc_y", last: 1, included: 0, numbers: "1" },
  ]);
  to.close();
});

function checkpointsOf(sqlite: Sqlite) {
  return sqlite
    .query<{ table: string; base: string; version: number; files: string }, []>(
      'SELECT account_id AS "table", base, version, files FROM checkpoints',
    )
    .all()
    .map((row) => ({ ...row, former: row.base, files: JSON.parse(row.files) as string[] }));
}

test("foreign tables of a forged database are not copied, and invalid rows are refused", async () => {
  const other = await (await sharedPostgres()).database(migrated);
  const there = connectPostgres(other.url);
  const forged = new Sqlite(":memory:");
  migrateSqlite(forged);
  forged.run("CREATE TABLE ephemeral (key TEXT, value TEXT, expires_at INTEGER)");
  forged.run("INSERT INTO ephemeral VALUES ('k', 'v', 9000000000000)");
  await fillSharedDatabase(there, forged, { bases: [], now: NOW });
  expect(await there.query("SELECT FROM ephemeral")).toEqual([]);
  forged.run("ALTER TABLE accounts ADD COLUMN other TEXT");
  expect(await outcomeOf(fillSharedDatabase(there, forged, { bases: [], now: NOW }))).toThrow(
    "does not match the schema of ctxd",
  );
  expect(await there.query("SELECT FROM accounts")).toEqual([]);
  await there.close();
  await other[Symbol.asyncDispose]();
});

test("a backup copies every table of PostgreSQL", async () => {
  const sqlite = new Sqlite(":memory:");
  migrateSqlite(sqlite);
  const known = new Set([...tablesOf(sqlite), ...SHARED_ALONE]);
  const tables = await sharedTables(postgres);
  expect(tables.filter((table) => !known.has(table))).toEqual([]);
});
