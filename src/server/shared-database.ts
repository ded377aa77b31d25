import type { SharedSettings } from "../config/shared-settings.ts";
import { explainUnavailable } from "../db/database-error.ts";
import { connectPostgres, type Postgres } from "../db/postgres.ts";
import {
  createPostgresDatabase,
  measurePostgres,
  type PostgresDatabase,
} from "../db/postgres-database.ts";
import { checkSchema, migratePostgres, readSchemaState } from "../db/postgres-migrations.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { untilReachable } from "./starting.ts";

type Settings = Pick<SharedSettings, "databaseUrl">;

/** Largest number of connections of a command. */
const COMMAND_SESSIONS = 4;

/**
 * Opens the database for a server, and upgrades its schema. Waits for a database that can't be reached.
 * @throws DatabaseError with one sentence for the user
 */
export async function openForServer(
  { databaseUrl }: Settings,
  { logger, metrics }: { logger: Log; metrics: Metrics },
): Promise<PostgresDatabase> {
  const postgres = measurePostgres(connectPostgres(databaseUrl), metrics);
  try {
    await untilReachable(() => migratePostgres(postgres), logger);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw explainUnavailable(error, databaseUrl);
  }
}

/**
 * Opens the database for a command. It creates the schema of an empty database, but never upgrades one: a
 * user who tries a newer version must not change the schema of running servers.
 * @throws DatabaseError with one sentence for the user
 */
export async function openForCommand(settings: Settings): Promise<PostgresDatabase> {
  const postgres = connectPostgres(settings.databaseUrl, { sessions: COMMAND_SESSIONS });
  try {
    const state = await readSchemaState(postgres);
    await (state === null ? migratePostgres : checkSchema)(postgres);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw explainUnavailable(error, settings.databaseUrl);
  }
}

/** Runs a task on a connection, with any schema. @throws DatabaseError when the database can't be reached */
export async function withConnection<Result>(
  { databaseUrl }: Settings,
  task: (postgres: Postgres) => Promise<Result>,
): Promise<Result> {
  const postgres = connectPostgres(databaseUrl, { sessions: COMMAND_SESSIONS });
  try {
    return await task(postgres);
  } catch (error) {
    throw explainUnavailable(error, databaseUrl);
  } finally {
    await postgres.close();
  }
}
