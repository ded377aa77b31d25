import type { Database as Sqlite } from "bun:sqlite";
import type { Statements } from "../../db/postgres.ts";

/*
 * Copies rows between SQLite and PostgreSQL as JSON, which PostgreSQL itself writes and reads. So the driver's
 * conversion of types does not matter.
 */

/** A transaction of PostgreSQL. */
export type Session = Pick<Statements, "query">;

export type Row = Record<string, unknown>;
/** The type of a column in PostgreSQL, as far as values must be converted. */
type Kind = "boolean" | "bytea" | "other";

const BATCH = { rows: 500, bytes: 4 << 20 };
/** Rows in one statement for tables with contents, which may have some megabytes each. */
const HEAVY_ROWS = 8;

/** Names of all database tables in SQLite. A table comes after those that it references. */
export function tablesOf(sqlite: Sqlite): string[] {
  const names = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);
  const referred = sqlite.query<{ name: string }, [string]>(
    'SELECT "table" AS name FROM pragma_foreign_key_list(?)',
  );
  const ordered = new Set<string>();
  const visit = (name: string) => {
    for (const other of referred.all(name)) if (other.name !== name) visit(other.name);
    ordered.add(name);
  };
  for (const name of names) visit(name);
  return [...ordered];
}

/** Reads the rows of a query in batches. @param isHeavy whether rows may be large */
export async function* readShared(
  session: Session,
  query: string,
  isHeavy = false,
): AsyncGenerator<Row[]> {
  await session.query(
    `DECLARE copied NO SCROLL CURSOR FOR SELECT row_to_json(r)::text AS row FROM (${query}) r`,
  );
  try {
    for (;;) {
      const rows = await session.query<Row>(
        `FETCH ${isHeavy ? HEAVY_ROWS : BATCH.rows} FROM copied`,
      );
      if (rows.length === 0) return;
      yield rows.map(({ row }): Row => JSON.parse(String(row)));
    }
  } finally {
    await session.query("CLOSE copied");
  }
}

/**
 * Copies a database table from PostgreSQL to SQLite.
 * @throws Error when its columns differ
 */
export async function copyFromShared(session: Session, sqlite: Sqlite, table: string) {
  const kinds = await requireSameColumns(session, sqlite, table);
  const insert = inserterFor(sqlite, table, kinds);
  const isHeavy = [...kinds.values()].includes("bytea");
  for await (const rows of readShared(session, `SELECT * FROM ${quoted(table)}`, isHeavy)) {
    insert(rows);
  }
}

/** Copies a database table from SQLite to PostgreSQL. @throws Error when its columns differ */
export async function copyToShared(sqlite: Sqlite, session: Session, table: string) {
  await requireSameColumns(session, sqlite, table);
  await writeShared(
    session,
    table,
    sqlite.query<Row, []>(`SELECT * FROM ${quoted(table)}`).iterate(),
  );
}

/** Inserts rows into a PostgreSQL table, and moves its counters past them. */
export async function writeShared(session: Session, table: string, rows: Iterable<Row>) {
  const kinds = await columnsOf(session, table);
  for (const { names, json } of inBatches(rows, kinds)) {
    const columns = names.map(quoted).join(", ");
    await session.query(
      `INSERT INTO ${quoted(table)} (${columns})
       SELECT ${columns} FROM json_populate_recordset(NULL::${quoted(table)}, $1::text::json)`,
      [json],
    );
  }
  await advanceCounters(session, table, kinds.keys());
}

/** Returns a function that inserts rows of PostgreSQL. @param kinds the columns and their types */
export function inserterFor(sqlite: Sqlite, table: string, kinds: ReadonlyMap<string, Kind>) {
  const columns = [...kinds];
  const names = columns.map(([name]) => quoted(name)).join(", ");
  const places = columns.map(() => "?").join(", ");
  const insert = sqlite.query(`INSERT INTO ${quoted(table)} (${names}) VALUES (${places})`);
  return sqlite.transaction((rows: readonly Row[]) => {
    for (const row of rows) insert.run(...columns.map(([name, kind]) => toSqlite(row[name], kind)));
  });
}

async function columnsOf(session: Session, table: string): Promise<Map<string, Kind>> {
  const rows = await session.query<Row>(
    `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
     WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped`,
    [quoted(table)],
  );
  return new Map(rows.map(({ name, type }) => [String(name), kindOf(type)]));
}

function kindOf(type: unknown): Kind {
  return type === "boolean" || type === "bytea" ? type : "other";
}

async function requireSameColumns(session: Session, sqlite: Sqlite, table: string) {
  const kinds = await columnsOf(session, table);
  const own = sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name);
  if (own.length === kinds.size && own.every((name) => kinds.has(name))) return kinds;
  throw new Error(`the table ${table} has ${own} here and ${[...kinds.keys()]} there`);
}

/** Moves the counters of a table past its largest numbers. */
async function advanceCounters(
  session: Session,
  table: string,
  columns: Iterable<string>,
): Promise<void> {
  for (const name of columns) {
    const [found] = await session.query<Row>(
      "SELECT pg_get_serial_sequence($1::text, $2::text) AS sequence",
      [quoted(table), name],
    );
    if (typeof found?.sequence !== "string") continue;
    await session.query(
      `SELECT setval($1::text::regclass, greatest(last, 1), last > 0)
       FROM (SELECT coalesce(max(${quoted(name)}), 0) AS last FROM ${quoted(table)}) AS counted`,
      [found.sequence],
    );
  }
}

function* inBatches(rows: Iterable<Row>, kinds: ReadonlyMap<string, Kind>) {
  let [batch, bytes, names]: [string[], number, string[]] = [[], 0, []];
  const take = () => {
    const json = `[${batch.join(",")}]`;
    [batch, bytes] = [[], 0];
    return { names, json };
  };
  for (const row of rows) {
    names = Object.keys(row);
    const values = Object.entries(row).map(([name, value]) => [
      name,
      toShared(value, kinds.get(name)),
    ]);
    const json = JSON.stringify(Object.fromEntries(values));
    batch.push(json);
    bytes += json.length;
    if (batch.length >= BATCH.rows || bytes >= BATCH.bytes) yield take();
  }
  if (batch.length > 0) yield take();
}

function toSqlite(value: unknown, kind: Kind): string | number | Buffer | null {
  if (typeof value === "boolean") return Number(value);
  if (kind === "bytea" && typeof value === "string") return Buffer.from(value.slice(2), "hex");
  return value as string | number | null;
}

/** Converts a value to JSON for PostgreSQL, whose texts have no U+0000 and no lone surrogates. */
function toShared(value: unknown, kind: Kind | undefined): unknown {
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString("hex")}`;
  if (kind === "boolean" && value !== null) return Boolean(value);
  return typeof value === "string" ? value.toWellFormed().replaceAll("\0", "\uFFFD") : value;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
