import { createAccounts } from "../../src/accounts/accounts.ts";
import type { Database } from "../../src/db/database.ts";
import { openPostgres, type PostgresDatabase } from "../../src/db/postgres-database.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { afterThisTest, testClock, testDatabase } from "./database.ts";
import { sharedPostgres } from "./postgres.ts";

/** Makes a database with the present schema. */
async function fill(url: string): Promise<void> {
  await (await openPostgres(url)).close();
}

/** Where PostgreSQL has a new, empty database of ours, which goes after the test. */
export async function testPostgresUrl(): Promise<string> {
  const server = await sharedPostgres();
  const { url, [Symbol.asyncDispose]: drop } = await server.database(fill);
  afterThisTest(drop);
  return url;
}

/** A new database on PostgreSQL, closed after the test. */
export async function testPostgres(url?: string): Promise<PostgresDatabase> {
  const db = await openPostgres(url ?? (await testPostgresUrl()), { sessions: 4 });
  afterThisTest(db.close);
  return db;
}

/** The kinds of databases, for `describe.each`: what is true on one is true on the other. */
export const DATABASES: readonly (readonly [string, () => Promise<Database>])[] = [
  ["SQLite", async () => testDatabase()],
  ["PostgreSQL", () => testPostgres()],
];

/** Accounts and keys on a new database, with a clock that the test moves. */
export async function storesOn(open: () => Promise<Database>) {
  const [db, clock] = [await open(), testClock()];
  return { db, clock, accounts: createAccounts({ db, clock }), keys: createKeys({ db, clock }) };
}
