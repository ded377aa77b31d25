import { PgDialect } from "drizzle-orm/pg-core";
import { PgRemoteDatabase, PgRemoteSession } from "drizzle-orm/pg-proxy";
import { AppError } from "../errors.ts";
import type { Orm } from "./database.ts";
import { AS_IT_IS } from "./sqlite-orm.ts";

/**
 * Drizzle's way to PostgreSQL's tables by a function that executes statements. Its queries make the
 * same values as SQLite's, so they pass for them.
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
  session.prepareQuery = (...query) => Object.assign(prepare(...query), AS_IT_IS);
  return new PgRemoteDatabase(dialect, session, undefined) as unknown as Orm;
}

/** PostgreSQL's texts have no U+0000. */
function refuseNul(parameters: readonly unknown[]): void {
  if (!parameters.some((value) => typeof value === "string" && value.includes("\0"))) return;
  throw new AppError("validation_failed", "A text has the character U+0000: leave it out.");
}
