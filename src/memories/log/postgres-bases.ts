import type { Statements } from "../../db/postgres.ts";
import { NOW, readNames } from "./postgres-leases.ts";
import type { Lease } from "./records.ts";
import { type BaseRecords, LeaseLost } from "./shared-log.ts";

/**
 * The records of bases in PostgreSQL. The state in a base's own row decides: two statements that change one row at
 * the same moment see each other's change of this row, but not of other rows.
 * @param leaseOf the lease of a table that this process holds at present
 */
export function createBaseRecords(
  sql: Statements,
  leaseOf: (table: string) => Lease | null,
): BaseRecords {
  return {
    async begin(base) {
      const table = base.replace(/\.[^.]*$/, "");
      const lease = leaseOf(table);
      if (!lease) throw new LeaseLost(`this process has no lease of ${table}`);
      const rows = await sql.rows(
        `INSERT INTO bases (base, name, epoch, since, state)
         SELECT $1, name, epoch, ${NOW}, 'written' FROM heads
           WHERE name = $2 AND owner = $3 AND epoch = $4::bigint
         ON CONFLICT (base) DO UPDATE SET since = excluded.since
           WHERE bases.epoch = excluded.epoch AND bases.state <> 'condemned'
         RETURNING base`,
        [base, table, lease.owner, lease.epoch],
      );
      if (rows.length === 0) throw new LeaseLost(`another process has taken over ${table}`);
    },

    async describe(base, contents) {
      await sql.rows(
        "UPDATE bases SET contents = (coalesce(contents, '{}')::jsonb || $2::text::jsonb)::text WHERE base = $1",
        [base, JSON.stringify(contents)],
      );
    },

    async contents(base) {
      const [[contents] = []] = await sql.rows("SELECT contents FROM bases WHERE base = $1", [
        base,
      ]);
      return typeof contents === "string" ? JSON.parse(contents) : {};
    },

    async wanted(bases) {
      const wanted = await readNames(
        sql,
        `SELECT base FROM bases WHERE base = ANY($1::text[]) AND state <> 'condemned'
         UNION SELECT base FROM checkpoints WHERE base = ANY($1::text[])`,
        [bases],
      );
      return new Set(wanted);
    },

    async ours(bases) {
      const ours = await readNames(
        sql,
        `SELECT base FROM unnest($1::text[]) AS asked (base)
         WHERE EXISTS (SELECT 1 FROM accounts a WHERE a.id = split_part(asked.base, '.', 1))
           OR EXISTS (SELECT 1 FROM bases b WHERE b.base = asked.base)`,
        [bases],
      );
      return new Set(ours);
    },

    async condemn(bases) {
      await sql.rows(
        "UPDATE bases SET state = 'condemned' WHERE base = ANY($1::text[]) AND state = 'written'",
        [bases],
      );
      return await readNames(
        sql,
        `SELECT base FROM unnest($1::text[]) AS asked (base)
         WHERE NOT EXISTS (SELECT 1 FROM bases b WHERE b.base = asked.base AND state <> 'condemned')
           AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.base = asked.base)`,
        [bases],
      );
    },

    async condemned() {
      await sql.rows(
        `UPDATE bases b SET state = 'condemned' WHERE state = 'written' AND NOT EXISTS (
           SELECT 1 FROM heads h
           WHERE h.name = b.name AND h.epoch = b.epoch AND h.lease_until >= ${NOW})`,
      );
      return await readNames(
        sql,
        "SELECT base FROM bases WHERE state = 'condemned' ORDER BY since",
      );
    },

    async gone(bases) {
      await sql.rows("DELETE FROM bases WHERE base = ANY($1::text[]) AND state = 'condemned'", [
        bases,
      ]);
    },
  };
}
