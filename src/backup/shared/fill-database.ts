import { Database as Sqlite } from "bun:sqlite";
import type { Postgres, Statements } from "../../db/postgres.ts";
import { migrateSqlite } from "../../db/sqlite-migrate.ts";
import { AppError } from "../../errors.ts";
import type { Contents } from "../../memories/log/base-records.ts";
import { BackupError } from "../backup-error.ts";
import { copyLogToShared, LOG_TABLES, type RestoredBase } from "./log-rows.ts";
import { copyToShared, tablesOf, writeShared } from "./rows.ts";

/**
 * @throws BackupError when the database contains data. Rows that a server creates by itself, such as its
 *   secrets, do not count.
 */
export async function refuseUsed(statements: Pick<Statements, "query">): Promise<void> {
  const [found] = await statements.query<{ used: boolean }>(
    "SELECT EXISTS (SELECT FROM accounts) OR EXISTS (SELECT FROM heads) AS used",
  );
  if (!found?.used) return;
  throw new BackupError("The database of CTXD_DATABASE_URL is not empty: choose a new one.");
}

/**
 * Records bases before their first file is uploaded, so that abandoned files can be found.
 * @param contentsOf what their files contain
 */
export async function beginBases(
  postgres: Postgres,
  {
    bases,
    now,
    contentsOf = () => ({}),
  }: {
    bases: readonly RestoredBase[];
    now: number;
    contentsOf?: (base: RestoredBase) => Contents;
  },
): Promise<void> {
  const begun = { epoch: 0, since: now, state: "written" };
  const rows = bases.map((each) => ({
    ...{ base: each.base, name: each.table, contents: JSON.stringify(contentsOf(each)) },
    ...begun,
  }));
  await writeShared(postgres, "bases", rows);
}

/**
 * Copies all rows of a SQLite database of this version to an empty PostgreSQL database, in one transaction.
 * @param bases are in the object store, under their new names
 * @throws BackupError when the database is no longer empty
 */
export async function fillSharedDatabase(
  postgres: Postgres,
  sqlite: Sqlite,
  { bases, now }: { bases: readonly RestoredBase[]; now: number },
): Promise<void> {
  const tables = ownTables();
  await postgres.transaction(async (tx) => {
    await tx.query("LOCK TABLE accounts, heads, bases IN EXCLUSIVE MODE");
    await refuseUsed(tx);
    await recordBases(tx, bases);
    // Rows that an unused server has created by itself.
    for (const table of tables.toReversed()) await tx.query(`DELETE FROM "${table}"`);
    try {
      for (const table of tables) {
        if (!LOG_TABLES.has(table)) await copyToShared(sqlite, tx, table);
      }
      await copyLogToShared(sqlite, tx, { bases, now });
    } catch (cause) {
      if (cause instanceof AppError) throw cause;
      throw new BackupError(
        "The database of this backup does not match the schema of ctxd, so nothing was restored.",
        { cause },
      );
    }
  });
}

/** The database tables of this version. A foreign database may have others, which are ignored. */
function ownTables(): string[] {
  const model = new Sqlite(":memory:");
  try {
    migrateSqlite(model);
    return tablesOf(model);
  } finally {
    model.close();
  }
}

/**
 * Marks bases as recorded.
 * @throws BackupError when a running server removed some as abandoned
 */
async function recordBases(
  tx: Pick<Statements, "query">,
  bases: readonly RestoredBase[],
): Promise<void> {
  const recorded = await tx.query(
    `UPDATE bases SET state = 'recorded'
     WHERE base = ANY (ARRAY(SELECT json_array_elements_text($1::text::json))) AND state = 'written'
     RETURNING 1`,
    [JSON.stringify(bases.map(({ base }) => base))],
  );
  if (recorded.length === bases.length) return;
  throw new BackupError("A server uses this database: stop all servers, and restore again.");
}
