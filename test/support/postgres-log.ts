import { connectPostgres, type Postgres } from "../../src/db/postgres.ts";
import { migratePostgres } from "../../src/db/postgres-migrations.ts";
import { afterThisTest } from "./database.ts";
import { sharedPostgres } from "./postgres.ts";

const TABLES = [
  "accounts",
  "heads",
  "journal",
  "copies",
  "checkpoints",
  "tables",
  "idempotency_keys",
  "bases",
];

async function create(): Promise<string> {
  const { url } = await (await sharedPostgres()).database();
  const postgres = connectPostgres(url);
  await migratePostgres(postgres);
  await postgres.close();
  return url;
}
let created: Promise<string> | null = null;

/**
 * A PostgreSQL database with the log's tables and some accounts: always the same one, which is emptied
 * first.
 */
export async function logDatabase(accounts: readonly string[]) {
  created ??= create();
  const url = await created;
  const opened: Postgres[] = [];
  const connect = (): Postgres => {
    const postgres = connectPostgres(url, { sessions: 4 });
    opened.push(postgres);
    return postgres;
  };
  afterThisTest(() => {
    for (const each of opened) void each.close();
  });
  const postgres = connect();
  // With so few rows that is quicker than to truncate them.
  await postgres.script(TABLES.map((table) => `DELETE FROM ${table}`).join("; "));
  const addAccount = async (id: string) => {
    await postgres.rows("INSERT INTO accounts VALUES ($1, $1, NULL, 'member', 0)", [id]);
    return id;
  };
  for (const id of accounts) await addAccount(id);
  return { url, postgres, connect, addAccount };
}
