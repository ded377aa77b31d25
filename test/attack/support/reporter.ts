import { SQL } from "bun";
import type { Cluster } from "../../support/cluster.ts";

export type Dump = Awaited<ReturnType<typeof readAsReporter>>;

/** All that a user of PostgreSQL reads who may only read. */
export async function readAsReporter({
  postgres,
  database,
}: Pick<Cluster, "postgres" | "database">) {
  const role = `reporter_${crypto.randomUUID().slice(0, 8)}`;
  const run = (statement: string) => postgres.execute(statement, database.name);
  await run(`create role ${role} login password '${role}'`);
  await run(`grant select on all tables in schema public to ${role}`);
  const url = new URL(database.url);
  [url.username, url.password] = [role, role];
  try {
    await using sql = new SQL(url.href, { max: 1 });
    return await readAll(sql);
  } finally {
    await run(`drop owned by ${role}; drop role ${role}`);
  }
}

async function readAll(sql: SQL) {
  const columns = new Map<string, string[]>();
  for (const { name, column } of await sql`
    select table_name as name, column_name as column from information_schema.columns
    where table_schema = 'public'`) {
    columns.set(name, [...(columns.get(name) ?? []), column]);
  }
  const cells: { column: string; value: string }[] = [];
  for (const [table, names] of columns) {
    for (const name of names) {
      const rows = await sql.unsafe(`select "${name}"::text as value from "${table}"`);
      for (const { value } of rows) {
        if (value !== null) cells.push({ column: `${table}.${name}`, value });
      }
    }
  }
  return {
    columns,
    /** Each value once. */
    values: [...new Set(cells.map(({ value }) => value))],
    /** @param column as TABLE.COLUMN */
    valuesOf: (column: string) =>
      cells.filter((cell) => cell.column === column).map(({ value }) => value),
  };
}

/** Whether a dump contains a text, as it is or encoded. */
export function isReadable({ values }: Dump, text: string): boolean {
  const bytes = Buffer.from(text);
  // The last characters of base64 depend on what follows.
  const base64 = (["base64", "base64url"] as const).map((each) =>
    bytes.toString(each).slice(0, -4),
  );
  // A key has its kind in front, which many texts have.
  const withoutKind = text.replace(/^ctx[a-z]?_/, "");
  const forms = [text, withoutKind, bytes.toString("hex"), ...base64];
  return values.some((value) => forms.some((form) => value.includes(form)));
}
