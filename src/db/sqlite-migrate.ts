import type { Database } from "bun:sqlite";
import { DatabaseError } from "./database-error.ts";
import { MIGRATIONS } from "./migrations.ts";
import { schemaVersion } from "./sqlite-files.ts";

/**
 * Runs all missing migrations, each in its own transaction. Several processes may do this at once.
 * @throws DatabaseError when the schema is of a newer program
 */
export function migrateSqlite(sqlite: Database, migrations = MIGRATIONS): void {
  // Read inside the transaction: another process may have run the migration first.
  const step = sqlite.transaction(() => {
    const version = schemaVersion(sqlite);
    const migration = migrations[version];
    if (migration === undefined) return;
    sqlite.run(migration);
    sqlite.run(`PRAGMA user_version = ${version + 1}`);
  });
  let version = schemaVersion(sqlite);
  while (version < migrations.length) {
    step.immediate();
    version = schemaVersion(sqlite);
  }
  if (version > migrations.length) {
    throw new DatabaseError(
      `The database ${sqlite.filename} was written by a newer ctxd (schema ${version}, this program knows ${migrations.length}): use that version or a newer one, or restore a backup that this one created.`,
    );
  }
}
