import type { Database as Sqlite } from "bun:sqlite";
import type { RecordedCheckpoint } from "../../memories/log/records.ts";
import { inserterFor, type Row, readShared, type Session, writeShared } from "./rows.ts";

/*
 * Copies the memory log between SQLite and PostgreSQL. In SQLite one counter numbers the entries of all
 * tables, in PostgreSQL each table has its own. So entries get new numbers. Entries that a checkpoint includes
 * are not copied, so the new numbers are all after the checkpoint. Tables of removed accounts are not copied.
 */

/** A base of a backup, with its new name. */
export interface RestoredBase extends RecordedCheckpoint {
  former: string;
}

/**
 * Database tables of the log whose rows differ between SQLite and PostgreSQL. Likenesses are not copied: without them,
 * memories are compared again.
 */
export const LOG_TABLES: ReadonlySet<string> = new Set([
  "heads",
  "journal",
  "checkpoints",
  "tables",
  "likenesses",
  "uncompared",
  "comparisons",
]);

const kindsOf = (...names: string[]) => new Map(names.map((name) => [name, "other"] as const));
const KINDS = {
  heads: kindsOf("name", "seq", "memories", "bytes", "expires_at"),
  journal: new Map([
    ...kindsOf("seq", "account_id", "removed", "has_remains", "at"),
    ["written", "bytea"] as const,
  ]),
  checkpoints: kindsOf("account_id", "version", "files", "base", "up_to"),
  tables: kindsOf("account_id", "name", "model"),
};

/** Copies the log to an empty SQLite database. */
export async function copyLogFromShared(session: Session, sqlite: Sqlite): Promise<void> {
  const copy = async (table: keyof typeof KINDS, query: string, isHeavy = false) => {
    const insert = inserterFor(sqlite, table, KINDS[table]);
    for await (const rows of readShared(session, query, isHeavy)) insert(rows);
  };
  const current = "heads h JOIN accounts a ON a.id = h.account_id";
  await copy("tables", "SELECT t.* FROM tables t JOIN accounts a ON a.id = t.account_id");
  await copy("heads", `SELECT h.name, 0 AS seq, h.memories, h.bytes, h.expires_at FROM ${current}`);
  await copy(
    "checkpoints",
    `SELECT c.name AS account_id, c.version, c.files, c.base, 0 AS up_to
     FROM ${current} JOIN checkpoints c ON c.name = h.name`,
  );
  await copy(
    "journal",
    `SELECT row_number() OVER (ORDER BY j.name, j.seq) AS seq, j.name AS account_id,
       j.written, j.removed, j.has_remains, j.at
     FROM ${current} JOIN journal j ON j.name = h.name LEFT JOIN checkpoints c ON c.name = h.name
     WHERE j.seq > coalesce(c.up_to, 0) ORDER BY j.name, j.seq`,
    true,
  );
  sqlite.run(
    `UPDATE heads SET seq = (SELECT max(seq) FROM journal WHERE account_id = name)
     WHERE name IN (SELECT account_id FROM journal)`,
  );
}

/**
 * Copies the log of a SQLite database of this version to an empty PostgreSQL database.
 * @param bases the durable bases, with their new names
 * @param now milliseconds since 1970. Entry numbers begin with it, as for all tables in PostgreSQL, so that a
 *   replica's copy of an earlier table with the same name is not taken for this one.
 */
export async function copyLogToShared(
  sqlite: Sqlite,
  session: Session,
  { bases, now }: { bases: readonly RestoredBase[]; now: number },
): Promise<void> {
  const read = (query: string) => sqlite.query<Row, []>(query).iterate();
  const isKept = (table: string) => `${table} IN (SELECT t.name ${CURRENT})`;
  const count = `(SELECT count(*) ${NEWER} AND h.name = all_heads.name)`;
  await writeShared(session, "tables", read(`SELECT t.* ${CURRENT}`));
  await writeShared(session, "checkpoints", checkpoints(bases, now));
  // Entries of the log are due for a flush immediately, because they may be deletions.
  await writeShared(
    session,
    "heads",
    read(
      `SELECT name, ${accountIn("name")} AS account_id, memories, bytes, expires_at, 0 AS epoch, 0 AS lease_until,
         ${now} + ${count} AS seq, CASE WHEN ${count} > 0 THEN ${now} END AS due_at
       FROM heads AS all_heads WHERE ${isKept("name")}`,
    ),
  );
  await writeShared(
    session,
    "journal",
    entries(
      read(
        `SELECT j.account_id AS name, ${now} + row_number() OVER (PARTITION BY j.account_id ORDER BY j.seq) AS seq,
           lower(hex(randomblob(16))) AS id, j.written, j.removed, j.has_remains, coalesce(j.at, ${now}) AS at,
           coalesce(h.memories, 0) AS memories, coalesce(h.bytes, 0) AS bytes
         ${NEWER} AND ${isKept("j.account_id")} ORDER BY j.seq`,
      ),
    ),
  );
}

/** Names of the current tables of all accounts, in a SQLite database of this version. */
export function currentTables(sqlite: Sqlite): Set<string> {
  const rows = sqlite.query<{ name: string }, []>(`SELECT t.name ${CURRENT}`).all();
  return new Set(rows.map(({ name }) => name));
}

/** Current tables. A table that is being embedded with another model is not copied: that begins again. */
const CURRENT = "FROM tables t JOIN accounts a ON a.id = t.account_id";

/** Entries after the checkpoint of their table. */
const NEWER = `FROM journal j JOIN heads h ON h.name = j.account_id
  LEFT JOIN checkpoints c ON c.account_id = j.account_id WHERE j.seq > coalesce(c.up_to, -1)`;

/** The account of a table: its name up to the first full stop. */
const accountIn = (table: string) => `substr(${table}, 1, instr(${table} || '.', '.') - 1)`;

function* checkpoints(bases: readonly RestoredBase[], upTo: number): Generator<Row> {
  for (const { table, base, version, files } of bases) {
    yield { name: table, base, version, files: JSON.stringify(files), up_to: upTo };
  }
}

/** Earlier versions removed rows. The first row of a memory has its id, others add a number after `#`. */
function* entries(rows: Iterable<Row>): Generator<Row> {
  for (const row of rows) {
    const removed: string[] = JSON.parse(String(row.removed));
    yield { ...row, removed: JSON.stringify(removed.filter((id) => !id.includes("#"))) };
  }
}
