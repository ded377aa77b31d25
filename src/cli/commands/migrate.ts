import { existsSync } from "node:fs";
import type { Command } from "commander";
import type { Config } from "../../config.ts";
import { isLocked } from "../../db/data-lock.ts";
import { DatabaseError } from "../../db/database-error.ts";
import { MIGRATIONS } from "../../db/migrations.ts";
import {
  migratePostgres,
  POSTGRES_MIGRATIONS,
  readSchemaState,
} from "../../db/postgres-migrations.ts";
import { databasePath, openSqlite } from "../../db/sqlite.ts";
import { openReadOnly, schemaVersion } from "../../db/sqlite-files.ts";
import { withConnection } from "../../server/shared-database.ts";
import { CommandError } from "../command-error.ts";
import type { Context } from "../context.ts";
import { examples } from "../help-text.ts";
import { print } from "../terminal.ts";

/** The schema of a database, and that of this program; 0 is none. */
interface Schemas {
  is: number;
  ours: number;
}

/** Adds the command to the program. */
export function define(program: Command, { configure }: Context): void {
  program
    .command("migrate")
    .summary("bring the database up to date, as a start of the server does")
    .description(
      "Brings the database up to date and prints from which schema to which. A start of the server does the same; with several servers, this one can be done before the first of them is replaced.",
    )
    .option("--check", "change nothing; the exit code is 1 if there is something to do")
    .addHelpText("after", examples("ctxd migrate", "ctxd migrate --check"))
    .action((options: { check?: boolean }) => migrateDatabase(configure(), options));
}

/**
 * `ctxd migrate`: brings the database up to date, as `ctxd serve` does, and prints from which schema to
 * which.
 * @param check changes nothing, and fails when there is something to do
 * @throws CommandError, or DatabaseError when a newer program's database can't be used
 */
async function migrateDatabase(
  config: Config,
  { check = false }: { check?: boolean },
): Promise<void> {
  const { is, ours } = config.shared
    ? await withConnection(config.shared, async (postgres) => {
        const state = await readSchemaState(postgres);
        if (!check) await migratePostgres(postgres);
        return { is: state?.number ?? 0, ours: POSTGRES_MIGRATIONS.at(-1)?.number ?? 0 };
      })
    : await migrateFolder(config.dataDir, check);
  if (is === ours) return await print(`The schema is ${is}: there is nothing to do.`);
  if (is > ours)
    return await print(`The schema is ${is}, of a newer version that this one goes with.`);
  if (!check) return await print(`The schema was ${is} and is ${ours}.`);
  throw new CommandError(`The schema is ${is}, and this version's is ${ours}: run ctxd migrate.`);
}

async function migrateFolder(dataDir: string, check: boolean): Promise<Schemas> {
  const path = databasePath(dataDir);
  const schemas = { is: existsSync(path) ? look(path, dataDir) : 0, ours: MIGRATIONS.length };
  if (check && schemas.is > schemas.ours) {
    throw new DatabaseError(`The database ${path} was written by a newer ctxd.`);
  }
  if (!check) await openSqlite(path).close();
  return schemas;
}

function look(path: string, dataDir: string): number {
  using sqlite = openReadOnly(path, isLocked(dataDir));
  return schemaVersion(sqlite);
}
