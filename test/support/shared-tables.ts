import type { Statements } from "../../src/db/postgres.ts";

/** Names of all database tables in PostgreSQL. A partitioned one counts once. */
export async function sharedTables(session: Pick<Statements, "query">): Promise<string[]> {
  const rows = await session.query<{ name: unknown }>(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
     ORDER BY relname`,
  );
  return rows.map(({ name }) => String(name));
}
