import { createAccounts } from "../../src/accounts/accounts.ts";
import type { Database } from "../../src/db/database.ts";
import { connectPostgres } from "../../src/db/postgres.ts";
import type { PostgresDatabase } from "../../src/db/postgres-database.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { afterThisTest, temporaryFolder, testClock, testDatabase } from "./database.ts";
import { openPostgres } from "./open-postgres.ts";
import { sharedPostgres } from "./postgres.ts";

/** Makes a database with the present schema. */
async function fill(url: string): Promise<void> {
  await (await openPostgres(url)).close();
}

/** Databases that no test uses now: to empty one is quicker than to make one. */
const idle: string[] = [];

/** An empty database of ours on PostgreSQL, until it is given back. */
export async function borrowPostgres() {
  const url = idle.pop() ?? (await (await sharedPostgres()).database(fill)).url;
  const postgres = connectPostgres(url, { sessions: 1 });
  // With so few rows that is quicker than to truncate.
  await postgres.script(`
    DO $$ DECLARE name text; BEGIN
      FOR name IN SELECT tablename FROM pg_tables
        WHERE schemaname = 'public' AND tablename <> 'ctxd_schema' ORDER BY tablename = 'security_events'
      LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
    END $$;
    SELECT setval('security_events_id_seq', 1, false);`);
  await postgres.close();
  return { url, giveBack: () => void idle.push(url) };
}

/** Where PostgreSQL has an empty database of ours, for this test alone. */
export async function testPostgresUrl(): Promise<string> {
  const { url, giveBack } = await borrowPostgres();
  afterThisTest(giveBack);
  return url;
}

/** A database on PostgreSQL, by default an empty one, closed after the test. */
export async function testPostgres(url?: string): Promise<PostgresDatabase> {
  const db = await openPostgres(url ?? (await testPostgresUrl()), { sessions: 4 });
  afterThisTest(db.close);
  return db;
}

/** An empty database. */
interface Emptied {
  /** Opens it, as another process does. */
  open(): Promise<Database>;
  /** Opens it as another server does that works at the same moment: on SQLite it is the same one. */
  openBeside(db: Database): Promise<Database>;
}

/** Makes an empty database. */
export type Place = () => Promise<Emptied>;

/** The kinds of databases, for `describe.each`: what is true on one is true on the other. */
export const DATABASES: readonly (readonly [name: string, place: Place])[] = [
  [
    "SQLite",
    async () => {
      const dataDir = temporaryFolder();
      return { open: async () => testDatabase(dataDir), openBeside: async (db) => db };
    },
  ],
  [
    "PostgreSQL",
    async () => {
      const url = await testPostgresUrl();
      const open = () => testPostgres(url);
      return { open, openBeside: open };
    },
  ],
];

/** Accounts and keys on an empty database, with a clock that the test moves. */
export async function storesOn(place: Place) {
  const [{ open, openBeside }, clock] = [await place(), testClock()];
  const storesOf = (db: Database) => ({
    ...{ db, clock, accounts: createAccounts({ db, clock }), keys: createKeys({ db, clock }) },
  });
  const stores = storesOf(await open());
  return {
    ...stores,
    /** As another process has them. */
    another: async () => storesOf(await open()),
    /** As another server has them that works at the same moment. */
    beside: async () => storesOf(await openBeside(stores.db)),
  };
}
