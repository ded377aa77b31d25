import type { Statements } from "../../db/postgres.ts";
import type { Lease } from "./records.ts";
import { LEASE, type Leases } from "./shared-log.ts";

/** Milliseconds since 1970 by the database's clock, which all processes share. */
export const NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/** The same at the beginning of the statement. It is constant within a statement, so conditions with it can use an index. */
export const STATEMENT_TIME = "(extract(epoch FROM statement_timestamp()) * 1000)::bigint";

/** The first column of the rows of a statement, as texts. */
export async function readNames(
  sql: Statements,
  statement: string,
  parameters: readonly unknown[] = [],
): Promise<string[]> {
  return (await sql.rows(statement, [...parameters])).map(([name]) => String(name));
}

/** Milliseconds after which any process may flush a table that its own process has not flushed. */
export interface Overdue {
  /** After a write. */
  flush: number;
  /** After a deletion, which must leave the files within 60 s. */
  forget: number;
}

/** The database tables with leases, their keys, and the statement that adds a missing row. */
const KINDS = {
  heads: { key: "name", add: null },
  copies: { key: "account_id", add: "INSERT INTO copies SELECT $1 ON CONFLICT DO NOTHING" },
} as const;

/** Leases by the database's clock: of the upkeep of tables (`heads`), or of copying accounts' tables (`copies`). */
export function createLeases(
  sql: Statements,
  kind: keyof typeof KINDS,
  lasts = LEASE,
): Leases & {
  /** The lease of a table that this process holds. */
  of(table: string): Lease | null;
} {
  const { key, add } = KINDS[kind];
  /** The leases that this process holds, by table. */
  const held = new Map<string, Lease>();
  const isHeld = (lease: Lease) => held.get(lease.table) === lease;

  return {
    of: (table) => held.get(table) ?? null,

    async lease(table, owner) {
      // This process has the table open a second time.
      if (held.has(table)) return null;
      if (add) await sql.rows(add, [table]);
      const [row] = await sql.rows(
        `UPDATE ${kind} SET lease_until = ${NOW} + $3::bigint, owner = $2,
           epoch = CASE WHEN owner = $2 THEN epoch ELSE epoch + 1 END
         WHERE ${key} = $1 AND (owner = $2 OR lease_until < ${NOW}) RETURNING epoch`,
        [table, owner, lasts],
      );
      if (row === undefined || held.has(table)) return null;
      const lease = { table, owner, epoch: Number(row[0]) };
      held.set(table, lease);
      return lease;
    },

    async renew(lease) {
      const { table, owner, epoch } = lease;
      const rows = await sql.rows(
        `UPDATE ${kind} SET lease_until = ${NOW} + $4::bigint
         WHERE ${key} = $1 AND owner = $2 AND epoch = $3::bigint RETURNING epoch`,
        [table, owner, epoch, lasts],
      );
      return isHeld(lease) && rows.length > 0;
    },

    async release(lease) {
      if (isHeld(lease)) held.delete(lease.table);
      await sql.rows(
        `UPDATE ${kind} SET lease_until = 0 WHERE ${key} = $1 AND owner = $2 AND epoch = $3::bigint`,
        [lease.table, lease.owner, lease.epoch],
      );
    },
  };
}
