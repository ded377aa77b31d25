import type { Database as Sqlite } from "bun:sqlite";

/** Values of columns that can't have just any. */
const VALUES: Readonly<Record<string, string | number>> = {
  "accounts.role": "member",
  "oauth_tokens.kind": "access",
  "space_invitations.role": "read",
  "space_members.role": "read",
  "journal.removed": '["mem_1"]',
  "likenesses.kind": "same",
  "uncompared.ids": "[]",
  "comparisons.position": "{}",
  "checkpoints.files": '["data/x.lance"]',
};

/** Columns with names of tables of memories. */
const NAMES = new Set([
  ...["heads.name", "tables.name"],
  ...["likenesses.name", "uncompared.name", "comparisons.name"],
]);

/** Columns with ids of accounts. A space has the id of its account. */
const ACCOUNTS = /^(accounts\.id|spaces\.id|\w+\.(account_id|actor_id|space_id|invited_by))$/;

/** Columns of what is true or false. */
const FLAG = /^(must|has)_|_only$/;

interface Column {
  name: string;
  type: string;
}

/**
 * Adds a row with a value in each column to every table, also to those that nobody has thought of when
 * this was written. What refers to another row refers to that of this call.
 * @param tables in an order in which rows refer to earlier ones
 */
export function addSomeRows(sqlite: Sqlite, tables: readonly string[], suffix = "x"): void {
  const columnsOf = sqlite.query<Column, [string]>("SELECT name, type FROM pragma_table_info(?)");
  const keysOf = sqlite.query<{ from: string }, [string]>(
    'SELECT "from" FROM pragma_foreign_key_list(?)',
  );
  for (const table of tables) {
    const references = new Set(keysOf.all(table).map(({ from }) => from));
    const someOf = ({ name, type }: Column) => {
      const isAccount = ACCOUNTS.test(`${table}.${name}`);
      // A table of memories has the name of its account.
      if (isAccount || NAMES.has(`${table}.${name}`)) return `acc_${suffix}`;
      const given = VALUES[`${table}.${name}`];
      if (given !== undefined) return given;
      if (references.has(name)) return `oauth_grants_id_${suffix}`;
      if (type === "INTEGER") return FLAG.test(name) ? 1 : 17;
      if (type === "REAL") return 0.1;
      return type === "BLOB" ? new Uint8Array([0, 1, 255]) : `${table}_${name}_${suffix}`;
    };
    const columns = columnsOf.all(table).filter(({ name, type }) => {
      return !(type === "INTEGER" && ["id", "seq", "number"].includes(name) && table !== "heads");
    });
    const names = columns.map(({ name }) => name).join(", ");
    const places = columns.map(() => "?").join(", ");
    sqlite.query(`INSERT INTO ${table} (${names}) VALUES (${places})`).run(...columns.map(someOf));
  }
}
