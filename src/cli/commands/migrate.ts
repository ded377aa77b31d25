import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { databasePath, isLocked } from "../../db/data-lock.ts";
import { DatabaseError } from "../../db/database-error.ts";
import { MIGRATIONS } from "../../db/migrations.ts";
import {
  migratePostgres,
  POSTGRES_MIGRATIONS,
  readSchemaState,
} from "../../db/postgres-migrations.ts";
import { openSqlite } from "../../db/sqlite.ts";
import { openReadOnly, schemaVersion } from "../../db/sqlite-files.ts";
import { withConnection } from "../../server/shared-database.ts";
import { type Context, examples } from "../context.ts";
import { CommandError, print } from "../terminal.ts";

export function define(program: Command, { configure }: Context): void {
  program
    .command("migrate")
    .summary("upgrade the database, as the start of a server does")
    .description(
      "Upgrades the database and prints the schema numbers before and after. The start of a server does the same. With several servers, run this before you replace the first of them.",
    )
    .option("--check", "change nothing; the exit code is 1 if an upgrade is needed")
    .addHelpText("after", examples("ctxd migrate", "ctxd migrate --check"))
    .action((options: { check?: boolean }) => migrateDatabase(configure(), options));
}

/**
 * `ctxd migrate`: upgrades the database, as `ctxd serve` does, and prints the schema numbers.
 * @param check changes nothing, and fails when an upgrade is needed
 * @throws CommandError, or DatabaseError for a database of a newer version that this one can't use
 */
async function migrateDatabase(config: Config, { check = false }: { check?: boolean }) {
  const { current, wanted } = config.shared
    ? await withConnection(config.shared, async (postgres) => {
        const state = await readSchemaState(postgres);
        if (!check) await migratePostgres(postgres);
        return { current: state?.number ?? 0, wanted: POSTGRES_MIGRATIONS.at(-1)?.number ?? 0 };
      })
    : await migrateFolder(config.dataDir, check);
  if (current === wanted) return await print(`The schema is ${current}: there is nothing to do.`);
  if (current > wanted) {
    return await print(`The schema is ${current}, of a newer version that works with this one.`);
  }
  if (!check) return await print(`The schema was ${current} and is ${wanted}.`);
  throw new CommandError(
    `The schema is ${current}, and this version needs ${wanted}: run ctxd migrate.`,
  );
}

/** @returns the schema numbers of the database, 0 for none, and of this program */
async function migrateFolder(dataDir: string, check: boolean) {
  const path = databasePath(dataDir);
  const current = existsSync(path) ? readSchema(path, dataDir) : 0;
  const wanted = MIGRATIONS.length;
  if (check && current > wanted) {
    throw new DatabaseError(`The database ${path} was written by a newer ctxd.`);
  }
  if (!check) await openSqlite(path).close();
  return { current, wanted };
}

function readSchema(path: string, dataDir: string): number {
  using sqlite = openReadOnly(path, isLocked(dataDir));
  return schemaVersion(sqlite);
}
