import { expect, test } from "bun:test";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { createAccountTables } from "../../src/accounts/tables.ts";
import { DatabaseError, DatabaseUnavailable } from "../../src/db/database-error.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import { createPostgresDatabase, postgresDialect } from "../../src/db/postgres-database.ts";
import {
  migratePostgres,
  POSTGRES_MIGRATIONS,
  readSchemaState,
} from "../../src/db/postgres-migrations.ts";
import { AppError } from "../../src/errors.ts";
import { createKeyTables } from "../../src/keys/tables.ts";
import { createLikenessTables } from "../../src/memories/log/database-tables.ts";
import { createOAuthTables } from "../../src/oauth/tables.ts";
import { createSecurityTables } from "../../src/security-log/tables.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { afterThisTest } from "../support/database.ts";
import { testPostgres, testPostgresUrl } from "../support/databases.ts";
import { openPostgres } from "../support/open-postgres.ts";
import { outcomeOf } from "../support/outcome.ts";
import { sharedPostgres } from "../support/postgres.ts";

const { number: PRESENT, oldest: OLDEST } = POSTGRES_MIGRATIONS.at(-1) ?? { number: 0, oldest: 0 };

const TABLES = [
  createAccountTables,
  createKeyTables,
  createSignInTables,
  createOAuthTables,
  createSecurityTables,
  createLikenessTables,
]
  .flatMap((create): unknown[] => Object.values(create(postgresDialect)))
  .filter((table) => is(table, PgTable))
  .map((table) => getTableConfig(table));

/** A connection to an empty database. */
async function emptyDatabase() {
  const { url, [Symbol.asyncDispose]: drop } = await (await sharedPostgres()).database();
  afterThisTest(drop);
  const postgres = connectPostgres(url, { sessions: 4 });
  afterThisTest(postgres.close);
  return { url, postgres };
}

test("both kinds of databases have the same migration numbers", () => {
  const numbers = POSTGRES_MIGRATIONS.map(({ number }) => number);
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_, index) => first + index));
  expect(PRESENT).toBe(MIGRATIONS.length);
  for (const { number, oldest } of POSTGRES_MIGRATIONS) expect(oldest).toBeLessThanOrEqual(number);
});

test("the Drizzle tables match the migrated schema of PostgreSQL", async () => {
  const { postgres } = await testPostgres();
  const made = await postgres.query<{ table: string; column: string; type: string; null: string }>(
    `SELECT table_name AS table, column_name AS column, data_type AS type, is_nullable AS null
     FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  expect(TABLES).toHaveLength(24);
  for (const { name, columns } of TABLES) {
    const declared = columns.map((column) => [
      column.name,
      column.getSQLType().replace("bigserial", "bigint"),
      column.notNull || column.primary,
    ]);
    const found = made.filter(({ table }) => table === name);
    expect(declared.sort()).toEqual(
      found.map((each) => [each.column, each.type, each.null === "NO"]).sort(),
    );
  }
});

test("texts are sorted by their bytes, independent of the database's locale", async () => {
  const { postgres } = await testPostgres();
  const others = await postgres.rows(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  );
  const ours = others.filter(([table]) => TABLES.some(({ name }) => name === table));
  expect(ours).toEqual([]);
});

test("a migration fails when its table is locked for long, and can be repeated", async () => {
  const { url, postgres } = await emptyDatabase();
  // The lock must outlast the migration, also on a busy machine.
  const holder = connectPostgres(url, { timeoutMs: 60_000 });
  afterThisTest(holder.close);
  const one = { number: 1, sql: "CREATE TABLE one (id text);", oldest: 1 };
  const two = { number: 2, sql: "ALTER TABLE one ADD COLUMN next text;", oldest: 1 };
  await migratePostgres(postgres, [one]);
  await holder.transaction(async (tx) => {
    await tx.rows("SELECT * FROM one");
    expect(await outcomeOf(migratePostgres(postgres, [one, two]))).toThrow(DatabaseUnavailable);
  });
  await migratePostgres(postgres, [one, two]);
  expect(await readSchemaState(postgres)).toEqual({ number: 2, oldest: 1 });
});

test("concurrent starts with an empty database all get a complete schema", async () => {
  const { url } = await emptyDatabase();
  const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
  for (const db of opened) {
    expect(await db.isReachable()).toBe(true);
    expect(await readSchemaState(db.postgres)).toEqual({ number: PRESENT, oldest: OLDEST });
    await db.close();
  }
});

test("a failed migration changes nothing, and earlier ones stay", async () => {
  const { postgres } = await emptyDatabase();
  const steps = [
    { number: 1, sql: "CREATE TABLE one (id text);", oldest: 1 },
    { number: 2, sql: "CREATE TABLE two (id text); CREATE TABLE one (id text);", oldest: 1 },
  ];
  expect(await outcomeOf(migratePostgres(postgres, steps))).toThrow("already exists");
  expect(await readSchemaState(postgres)).toEqual({ number: 1, oldest: 1 });
  const steady = steps.with(1, { number: 2, sql: "CREATE TABLE two (id text);", oldest: 1 });
  await migratePostgres(postgres, steady);
  await migratePostgres(postgres, steady);
  expect(await readSchemaState(postgres)).toEqual({ number: 2, oldest: 1 });
});

test("a program may be older than the schema if the schema allows it", async () => {
  const { postgres, url } = await emptyDatabase();
  await migratePostgres(postgres);
  const next = { number: PRESENT + 1, sql: "", oldest: PRESENT };
  await migratePostgres(postgres, [...POSTGRES_MIGRATIONS, next]);
  await (await openPostgres(url)).close();
  const last = { number: PRESENT + 2, sql: "", oldest: PRESENT + 1 };
  await migratePostgres(postgres, [...POSTGRES_MIGRATIONS, next, last]);
  const refused = openPostgres(url);
  expect(await outcomeOf(refused)).toThrow(DatabaseError);
  expect(await outcomeOf(refused)).toThrow("migrated by a newer ctxd");
});

test("opening without migrating reports that a migration is needed", async () => {
  const { url } = await emptyDatabase();
  expect(await outcomeOf(openPostgres(url, { migrates: false }))).toThrow("run ctxd migrate");
});

test("an unreachable database is explained in one sentence", async () => {
  const url = "postgres://postgres@127.0.0.1:1/none";
  expect(await outcomeOf(openPostgres(url, { timeoutMs: 1_000 }))).toThrow(DatabaseUnavailable);
});

test("conflicting transactions are repeated until each succeeds", async () => {
  const url = await testPostgresUrl();
  const open = () => openPostgres(url, { timeoutMs: 60_000 });
  const [db, other] = [await open(), await open()];
  afterThisTest(() => Promise.all([db.close(), other.close()]));
  const { accounts, quotas } = db.tables(createAccountTables);
  const row = { email: "a@example.com", role: "owner" as const, createdAt: new Date(0) };
  await db.orm.insert(accounts).values({ id: "acc_1", ...row });
  await db.orm.insert(quotas).values({ accountId: "acc_1", memories: 0, bytes: 0 });
  const addOne = (_: unknown, at: number) =>
    (at % 2 ? db : other).transaction(async (tx) => {
      const [{ memories } = { memories: 0 }] = await tx.select().from(quotas);
      // Gives other transactions time to conflict.
      await Bun.sleep(5);
      await tx.update(quotas).set({ memories: (memories ?? 0) + 1 });
    });
  await Promise.all(Array.from({ length: 60 }, addOne));
  expect(await db.orm.select().from(quotas)).toEqual([
    { accountId: "acc_1", memories: 60, bytes: 0 },
  ]);
});

test("a transaction that conflicts with another is repeated from its start", async () => {
  const db = await testPostgres();
  const { accounts, quotas } = db.tables(createAccountTables);
  const row = { email: "a@example.com", role: "owner" as const, createdAt: new Date(0) };
  await db.orm.insert(accounts).values({ id: "acc_1", ...row });
  let runs = 0;
  await db.transaction(async (tx) => {
    runs++;
    const [account] = await tx.select().from(accounts);
    if (runs === 1) {
      await db.orm.update(accounts).set({ passwordHash: "new" });
    }
    await tx
      .insert(quotas)
      .values({ accountId: "acc_1", memories: account?.passwordHash === "new" ? 1 : 0 })
      .onConflictDoNothing();
    await tx.update(accounts).set({ disabledAt: null });
  });
  expect(runs).toBe(2);
  expect((await db.orm.select().from(quotas))[0]?.memories).toBe(1);
});

test("an attempt fails while another transaction holds a lock", async () => {
  const db = await testPostgres();
  const { accounts } = db.tables(createAccountTables);
  const row = { email: "a@example.com", role: "owner" as const, createdAt: new Date(0) };
  await db.orm.insert(accounts).values({ id: "acc_1", ...row });
  const touch = async (tx: Pick<typeof db.orm, "update">) =>
    await tx.update(accounts).set({ createdAt: new Date(1) });
  await db.transaction(async (tx) => {
    await touch(tx);
    expect(await db.attempt(touch)).toBe(false);
  });
  expect(await db.attempt(touch)).toBe(true);
  expect(
    await outcomeOf(
      db.attempt(async () => {
        throw new TypeError("a bug");
      }),
    ),
  ).toThrow(TypeError);
  await db.close();
  expect(await db.attempt(touch)).toBe(false);
});

test("a text that PostgreSQL can't store is an error of the request", async () => {
  const db = createPostgresDatabase((await testPostgres()).postgres);
  const { accounts } = db.tables(createAccountTables);
  const row = { email: "a\0@example.com", role: "owner" as const, createdAt: new Date(0) };
  const refused = await Promise.resolve(db.orm.insert(accounts).values({ id: "a", ...row })).catch(
    (error) => error,
  );
  expect(refused).toBeInstanceOf(AppError);
  expect(refused.code).toBe("validation_failed");
});

test("an error does not repeat the statement's parameters", async () => {
  const db = await testPostgres(await testPostgresUrl());
  const { accounts } = db.tables(createAccountTables);
  const row = { email: "secret@example.com", role: "owner" as const, createdAt: new Date(0) };
  const insert = async () => await db.orm.insert(accounts).values({ id: "a", ...row });
  await insert();
  const again = await insert().catch((error) => error);
  expect(again.message).not.toContain("secret@");
});
