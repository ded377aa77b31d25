import { Database as Sqlite } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { copyFromShared, copyToShared, tablesOf } from "../../../src/backup/shared/rows.ts";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { connectPostgres, type Postgres } from "../../../src/db/postgres.ts";
import { migrateSqlite } from "../../../src/db/sqlite-files.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { type PostgresDatabase, sharedPostgres } from "../../support/postgres.ts";
import { sharedTables } from "../../support/shared-tables.ts";

let database: PostgresDatabase;
let postgres: Postgres;
beforeAll(async () => {
  database = await (await sharedPostgres()).database();
  postgres = connectPostgres(database.url);
  await postgres.script(
    "CREATE TABLE kinds (id bigserial PRIMARY KEY, name text, yes boolean NOT NULL, bytes bytea, real double precision, at bigint)",
  );
}, 120_000);
afterAll(async () => {
  await postgres.close();
  await database[Symbol.asyncDispose]();
});

function someTable(columns = "at INTEGER"): Sqlite {
  const sqlite = new Sqlite(":memory:");
  sqlite.run(
    `CREATE TABLE kinds (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, yes INTEGER NOT NULL, bytes BLOB, real REAL, ${columns}) STRICT`,
  );
  return sqlite;
}

const all = (sqlite: Sqlite) => sqlite.query("SELECT * FROM kinds ORDER BY id").all();

test("rows with all types are equal after a copy to PostgreSQL and back", async () => {
  const from = someTable();
  const insert = from.query("INSERT INTO kinds VALUES (?, ?, ?, ?, ?, ?)");
  const texts = [null, "", "null", "\\x41", 'a "quoted" \\ line\r\n\u2028', "naïve 猫 👍🏽", "{}"];
  for (let id = 1; id <= 1_201; id++) {
    const bytes = id % 3 === 0 ? null : new Uint8Array(id % 5).fill(id);
    insert.run(id, texts[id % texts.length] ?? null, id % 2, bytes, id / 7, Date.now() + id);
  }
  insert.run(5_000, "last", 1, new Uint8Array(3_000_000).fill(7), 1e300, Number.MAX_SAFE_INTEGER);
  await postgres.transaction((tx) => copyToShared(from, tx, "kinds"));
  const to = someTable();
  await postgres.transaction((tx) => copyFromShared(tx, to, "kinds"));
  expect(all(to)).toEqual(all(from));
  // Neither database uses a number twice.
  const [next] = await postgres.query<{ id: number }>(
    "INSERT INTO kinds (yes) VALUES (true) RETURNING id",
  );
  expect(next?.id).toBe(5_001);
  to.run("INSERT INTO kinds (yes) VALUES (1)");
  expect(to.query("SELECT max(id) AS id FROM kinds").get()).toEqual({ id: 5_001 });
  await postgres.query("TRUNCATE kinds");
});

test("characters that PostgreSQL can't store are replaced", async () => {
  const from = someTable();
  from.run("INSERT INTO kinds (name, yes) VALUES (?, 1)", ["before\0after"]);
  await postgres.transaction((tx) => copyToShared(from, tx, "kinds"));
  expect(await postgres.query("SELECT name FROM kinds")).toEqual([{ name: "before\uFFFDafter" }]);
  await postgres.query("TRUNCATE kinds");
});

test("a column that only one database has makes the copy fail", async () => {
  for (const columns of ["at INTEGER, other TEXT", "other INTEGER"]) {
    const sqlite = someTable(columns);
    expect(await outcomeOf(copyFromShared(postgres, sqlite, "kinds"))).toThrow("kinds");
    expect(await outcomeOf(copyToShared(sqlite, postgres, "kinds"))).toThrow("kinds");
  }
});

test("database tables are listed after those that they reference, a partitioned one once", async () => {
  const sqlite = new Sqlite(":memory:");
  migrateSqlite(sqlite, MIGRATIONS);
  const tables = tablesOf(sqlite);
  expect(tables.indexOf("oauth_tokens")).toBeGreaterThan(tables.indexOf("oauth_grants"));
  expect(tables.indexOf("security_events")).toBeGreaterThan(tables.indexOf("accounts"));
  expect(new Set(tables).size).toBe(tables.length);
  await postgres.query("CREATE TABLE parts (day int) PARTITION BY RANGE (day)");
  await postgres.query("CREATE TABLE first_part PARTITION OF parts FOR VALUES FROM (0) TO (1)");
  expect(await sharedTables(postgres)).toEqual(["kinds", "parts"]);
  await postgres.query("DROP TABLE parts");
});
