import { PgDialect } from "drizzle-orm/pg-core";
import { PgRemoteDatabase, PgRemoteSession } from "drizzle-orm/pg-proxy";
import { AppError } from "../errors.ts";
import type { Orm } from "./database.ts";
import { UNWRAPPED_ERRORS } from "./sqlite-orm.ts";

/**
 * Drizzle's query builder for PostgreSQL. `rows` executes the statements. Its queries return the same
 * values as SQLite's, so it has the type of SQLite's.
 */
export function createPostgresOrm(
  rows: (statement: string, parameters: unknown[]) => Promise<unknown[][]>,
): Orm {
  const dialect = new PgDialect();
  const session = new PgRemoteSession(
    async (statement, parameters) => {
      refuseNul(parameters);
      return { rows: await rows(statement, parameters) };
    },
    dialect,
    undefined,
  );
  const prepare = session.prepareQuery.bind(session);
  session.prepareQuery = (...query) => Object.assign(prepare(...query), UNWRAPPED_ERRORS);
  return new PgRemoteDatabase(dialect, session, undefined) as unknown as Orm;
}

/** PostgreSQL stores no U+0000 in texts. @throws AppError when a parameter contains one */
function refuseNul(parameters: readonly unknown[]): void {
  if (!parameters.some((value) => typeof value === "string" && value.includes("\0"))) return;
  throw new AppError("validation_failed", "A text contains the character U+0000: remove it.");
}
