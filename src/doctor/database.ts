import type { Database as Sqlite } from "bun:sqlite";
import { explainDatabaseError } from "../db/database-error.ts";
import { MIGRATIONS } from "../db/migrations.ts";
import { schemaVersion } from "../db/sqlite-files.ts";
import { readLogFacts } from "../memories/log/recorded.ts";
import { type Finding, findingsOf, formatBytes, reasonOf } from "./finding.ts";

/** Age of an entry that a running server should have flushed long ago, in milliseconds. */
const OLD_MS = 10 * 60_000;

/** Checks the integrity and the schema of the database. */
export function checkDatabase(sqlite: Sqlite, path: string): Finding {
  const { ok, problem } = findingsOf("database");
  try {
    const [answer] = sqlite.query("PRAGMA integrity_check(1)").values().flat();
    if (answer !== "ok") return problem(`${path} is damaged (${answer}): restore a backup.`);
    const [orphan] = sqlite.query<{ table: string }, []>("PRAGMA foreign_key_check").all();
    if (orphan) {
      return problem(
        `${path} has rows in ${orphan.table} that refer to missing rows: restore a backup.`,
      );
    }
    return checkSchema(schemaVersion(sqlite), path);
  } catch (error) {
    return problem(reasonOf(explainDatabaseError(error, path) ?? error));
  }

  function checkSchema(schema: number, path: string): Finding {
    const known = MIGRATIONS.length;
    if (schema > known) {
      return problem(`${path} was written by a newer ctxd (schema ${schema}): use that version.`);
    }
    const older = schema < known ? `, which the next start migrates to ${known}` : "";
    return ok(`intact, schema ${schema}${older}`);
  }
}

/** Checks that entries of the journal are flushed. */
export function checkJournal(
  sqlite: Sqlite,
  { isServed, now }: { isServed: boolean; now: number },
): Finding {
  const { ok, warning } = findingsOf("journal");
  const { entries, bytes, oldest } = readLogFacts(sqlite);
  if (entries === 0) return ok("empty");
  const age = oldest === null ? null : now - oldest;
  const since = oldest === null ? "" : `, the oldest of ${new Date(oldest).toISOString()}`;
  const text = `${entries} entries (${formatBytes(bytes)})${since}`;
  if (!isServed) return ok(`${text}: the next start flushes them`);
  if (age === null || age < OLD_MS) return ok(text);
  return warning(
    `${text}: they should have been flushed by now. Search the server's log for upkeep_failed.`,
  );
}
