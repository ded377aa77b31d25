import { run } from "../../src/cli/program.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { POSTGRES_MIGRATIONS, type PostgresMigration } from "../../src/db/postgres-migrations.ts";

/** The program with a schema that is one step newer, and with which this version can run. */
function addStep(): void {
  const last = POSTGRES_MIGRATIONS.at(-1);
  if (!last) throw new Error("there is no schema");
  const sql = "ALTER TABLE accounts ADD COLUMN of_the_next_version text;";
  (MIGRATIONS as string[]).push(sql);
  const step = { number: last.number + 1, sql, oldest: last.number };
  (POSTGRES_MIGRATIONS as PostgresMigration[]).push(step);
}

addStep();
process.umask(0o077);
process.exitCode = await run(process.argv.slice(2), process.env);
