import { connectPostgres } from "../../src/db/postgres.ts";
import { createPostgresDatabase, type PostgresDatabase } from "../../src/db/postgres-database.ts";
import { checkSchema, migratePostgres } from "../../src/db/postgres-migrations.ts";
import type { PostgresOptions } from "../../src/db/postgres-pool.ts";

/**
 * Opens the database of a URL and migrates its schema.
 * @param migrates false to only check the schema
 * @throws DatabaseUnavailable when the server can't be reached, DatabaseError when the schema can't be used
 */
export async function openPostgres(
  url: string,
  { migrates = true, ...options }: PostgresOptions & { migrates?: boolean } = {},
): Promise<PostgresDatabase> {
  const postgres = connectPostgres(url, options);
  try {
    await (migrates ? migratePostgres : checkSchema)(postgres);
    return createPostgresDatabase(postgres);
  } catch (error) {
    await postgres.close();
    throw error;
  }
}
