import { measurePostgres } from "../db/measured-postgres.ts";
import { connectPostgres, type Postgres } from "../db/postgres.ts";
import { createPostgresDatabase, type PostgresDatabase } from "../db/postgres-database.ts";
import { DatabaseUnavailable, sqlState } from "../db/postgres-errors.ts";
import { checkSchema, migratePostgres, readSchemaState } from "../db/postgres-migrations.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import type { SharedSettings } from "../shared-settings.ts";
import { ServerError } from "./server-error.ts";

type Settings = Pick<SharedSettings, "databaseUrl">;

/** Milliseconds that a start waits for a database that is away, and between two tries. */
const PATIENCE = 60_000;
const INTERVAL = 1_000;
/** Sessions of a command. */
const FEW = 4;

/**
 * Opens the database for a server, and brings its schema up to date. It waits for one that is away.
 * @throws ServerError or DatabaseError with one sentence for the user
 */
export async function openForServer(
  { databaseUrl }: Settings,
  { lines, metrics }: { lines: Log; metrics: Metrics },
): Promise<PostgresDatabase> {
  const postgres = measurePostgres(connectPostgres(databaseUrl), metrics);
  try {
    await untilReachable(() => migratePostgres(postgres), lines);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw explainUnavailable(error, databaseUrl);
  }
}

/**
 * Opens the database for a command. It makes the schema of an empty one, and changes none that servers
 * use: a newer version of the command may only have been tried.
 * @throws ServerError or DatabaseError with one sentence for the user
 */
export async function openForCommand(settings: Settings): Promise<PostgresDatabase> {
  const postgres = connectPostgres(settings.databaseUrl, { sessions: FEW });
  try {
    const state = await readSchemaState(postgres);
    await (state === null ? migratePostgres : checkSchema)(postgres);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw explainUnavailable(error, settings.databaseUrl);
  }
}

/** Runs a task on a connection, whatever the schema. @throws ServerError when there is none */
export async function withConnection<Result>(
  { databaseUrl }: Settings,
  task: (postgres: Postgres) => Promise<Result>,
): Promise<Result> {
  const postgres = connectPostgres(databaseUrl, { sessions: FEW });
  try {
    return await task(postgres);
  } catch (error) {
    throw explainUnavailable(error, databaseUrl);
  } finally {
    await postgres.close();
  }
}

/** A server that starts together with its database, or while that is away, waits for it. */
async function untilReachable(task: () => Promise<void>, lines: Log): Promise<void> {
  let isTold = false;
  for (const end = performance.now() + PATIENCE; ; await Bun.sleep(INTERVAL)) {
    try {
      return await task();
    } catch (error) {
      // What the server answers is no matter of waiting, but for that it is starting or stopping.
      const isAway =
        error instanceof DatabaseUnavailable && /^57P|^null$/.test(`${sqlState(error)}`);
      if (!isAway || performance.now() > end) throw error;
      if (!isTold) lines.warn("waiting_for_database");
      isTold = true;
    }
  }
}

/** What is wrong with the address, without the password that is in it; any other error as it is. */
export function explainUnavailable(error: unknown, databaseUrl: string): unknown {
  if (!(error instanceof DatabaseUnavailable)) return error;
  const { host, pathname, username } = new URL(databaseUrl);
  const state = sqlState(error) ?? "";
  if (state.startsWith("28") || /AUTH|PASSWORD|SASL/.test(codeOf(error))) {
    return new ServerError(
      `PostgreSQL at ${host} refuses the user ${username || "of CTXD_DATABASE_URL"} or the password.`,
    );
  }
  if (state.startsWith("3D")) {
    return new ServerError(`PostgreSQL at ${host} has no database ${pathname.slice(1)}: make it.`);
  }
  const reason = state || codeOf(error);
  return new ServerError(
    `PostgreSQL at ${host} does not answer${reason && ` (${reason})`}: look at it, and at CTXD_DATABASE_URL.`,
  );
}

function codeOf({ cause }: Error): string {
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
