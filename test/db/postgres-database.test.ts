import { expect, test } from "bun:test";
import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { createAccountTables } from "../../src/accounts/tables.ts";
import { DatabaseError } from "../../src/db/database-error.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import { createPostgresDatabase, openPostgres } from "../../src/db/postgres-database.ts";
import { postgres as dialect } from "../../src/db/postgres-dialect.ts";
import { DatabaseUnavailable } from "../../src/db/postgres-errors.ts";
import {
  migratePostgres,
  POSTGRES_MIGRATIONS,
  readSchemaState,
} from "../../src/db/postgres-migrations.ts";
import { AppError } from "../../src/errors.ts";
import { createKeyTables } from "../../src/keys/tables.ts";
import { createOAuthTables } from "../../src/oauth/tables.ts";
import { createSecurityTables } from "../../src/security-log/tables.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { afterThisTest } from "../support/database.ts";
import { testPostgres, testPostgresUrl } from "../support/databases.ts";
import { sharedPostgres } from "../support/postgres.ts";

const { number: PRESENT, oldest: OLDEST } = POSTGRES_MIGRATIONS.at(-1) ?? { number: 0, oldest: 0 };

const TABLES = [
  createAccountTables,
  createKeyTables,
  createSignInTables,
  createOAuthTables,
  createSecurityTables,
]
  .flatMap((create): unknown[] => Object.values(create(dialect)))
  .filter((table) => is(table, PgTable))
  .map((table) => getTableConfig(table));

/** A connection to a database without any table. */
async function emptyDatabase() {
  const { url, [Symbol.asyncDispose]: drop } = await (await sharedPostgres()).database();
  afterThisTest(drop);
  const postgres = connectPostgres(url, { sessions: 4 });
  afterThisTest(postgres.close);
  return { url, postgres };
}

test("both kinds of databases count the same migrations, one by one", () => {
  const numbers = POSTGRES_MIGRATIONS.map(({ number }) => number);
  const [first = 0] = numbers;
  expect(numbers).toEqual(numbers.map((_, index) => first + index));
  expect(PRESENT).toBe(MIGRATIONS.length);
  for (const { number, oldest } of POSTGRES_MIGRATIONS) expect(oldest).toBeLessThanOrEqual(number);
});

test("the Drizzle tables are what the migrations made in PostgreSQL", async () => {
  const { postgres } = await testPostgres();
  const made = await postgres.query<{ table: string; column: string; type: string; null: string }>(
    `SELECT table_name AS table, column_name AS column, data_type AS type, is_nullable AS null
     FROM information_schema.columns WHERE table_schema = 'public'`,
  );
  expect(TABLES).toHaveLength(18);
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

test("texts are sorted by their bytes, whatever the database's language is", async () => {
  const { postgres } = await testPostgres();
  const others = await postgres.rows(
    `SELECT table_name, column_name FROM information_schema.columns
     WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
  );
  const ours = others.filter(([table]) => TABLES.some(({ name }) => name === table));
  expect(ours).toEqual([]);
});

test("a step gives way to those who use its table for long, and can be made again", async () => {
  const { url, postgres } = await emptyDatabase();
  // On a busy machine, what holds the table must not be given up first.
  const holder = connectPostgres(url, { timeoutMs: 60_000 });
  afterThisTest(holder.close);
  const one = { number: 1, sql: "CREATE TABLE one (id text);", oldest: 1 };
  const two = { number: 2, sql: "ALTER TABLE one ADD COLUMN next text;", oldest: 1 };
  await migratePostgres(postgres, [one]);
  await holder.transaction(async (tx) => {
    await tx.rows("SELECT * FROM one");
    await expect(migratePostgres(postgres, [one, two])).rejects.toThrow(DatabaseUnavailable);
  });
  await migratePostgres(postgres, [one, two]);
  expect(await readSchemaState(postgres)).toEqual({ number: 2, oldest: 1 });
});

test("replicas that start at once on an empty database all get a whole one", async () => {
  const { url } = await emptyDatabase();
  const opened = await Promise.all(Array.from({ length: 4 }, () => openPostgres(url)));
  for (const db of opened) {
    expect(await db.isReachable()).toBe(true);
    expect(await readSchemaState(db.postgres)).toEqual({ number: PRESENT, oldest: OLDEST });
    await db.close();
  }
});

test("a step that fails leaves nothing behind, and the steps before it stay", async () => {
  const { postgres } = await emptyDatabase();
  const steps = [
    { number: 1, sql: "CREATE TABLE one (id text);", oldest: 1 },
    { number: 2, sql: "CREATE TABLE two (id text); CREATE TABLE one (id text);", oldest: 1 },
  ];
  await expect(migratePostgres(postgres, steps)).rejects.toThrow("already exists");
  expect(await readSchemaState(postgres)).toEqual({ number: 1, oldest: 1 });
  const steady = steps.with(1, { number: 2, sql: "CREATE TABLE two (id text);", oldest: 1 });
  await migratePostgres(postgres, steady);
  await migratePostgres(postgres, steady);
  expect(await readSchemaState(postgres)).toEqual({ number: 2, oldest: 1 });
});

test("a program may be older than the schema as long as that says so", async () => {
  const { postgres, url } = await emptyDatabase();
  await migratePostgres(postgres);
  const next = { number: PRESENT + 1, sql: "", oldest: PRESENT };
  await migratePostgres(postgres, [...POSTGRES_MIGRATIONS, next]);
  await (await openPostgres(url)).close();
  const last = { number: PRESENT + 2, sql: "", oldest: PRESENT + 1 };
  await migratePostgres(postgres, [...POSTGRES_MIGRATIONS, next, last]);
  const refused = openPostgres(url);
  await expect(refused).rejects.toThrow(DatabaseError);
  await expect(refused).rejects.toThrow("migrated by a newer ctxd");
});

test("who does not migrate is told to have it done", async () => {
  const { url } = await emptyDatabase();
  await expect(openPostgres(url, { migrates: false })).rejects.toThrow("run ctxd migrate");
});

test("a database that is away is one sentence", async () => {
  const url = "postgres://postgres@127.0.0.1:1/none";
  await expect(openPostgres(url, { timeoutMs: 1_000 })).rejects.toThrow(DatabaseUnavailable);
});

test("transactions that meet run again until each has done its work, however many", async () => {
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
      // Long enough for others to come between.
      await Bun.sleep(5);
      await tx.update(quotas).set({ memories: (memories ?? 0) + 1 });
    });
  await Promise.all(Array.from({ length: 60 }, addOne));
  expect(await db.orm.select().from(quotas)).toEqual([
    { accountId: "acc_1", memories: 60, bytes: 0 },
  ]);
});

test("a transaction that was overtaken runs again from its begin", async () => {
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

test("an attempt gives up where another transaction holds what it needs", async () => {
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
  await expect(
    db.attempt(async () => {
      throw new TypeError("a bug");
    }),
  ).rejects.toThrow(TypeError);
  await db.close();
  expect(await db.attempt(touch)).toBe(false);
});

test("a text that PostgreSQL can't keep is refused as the request's fault", async () => {
  const db = createPostgresDatabase((await testPostgres()).postgres);
  const { accounts } = db.tables(createAccountTables);
  const row = { email: "a\0@example.com", role: "owner" as const, createdAt: new Date(0) };
  const refused = await Promise.resolve(db.orm.insert(accounts).values({ id: "a", ...row })).catch(
    (error) => error,
  );
  expect(refused).toBeInstanceOf(AppError);
  expect(refused.code).toBe("validation_failed");
});

test("an error does not repeat what is in the statement", async () => {
  const db = await testPostgres(await testPostgresUrl());
  const { accounts } = db.tables(createAccountTables);
  const row = { email: "secret@example.com", role: "owner" as const, createdAt: new Date(0) };
  const insert = async () => await db.orm.insert(accounts).values({ id: "a", ...row });
  await insert();
  const again = await insert().catch((error) => error);
  expect(again.message).not.toContain("secret@");
});
