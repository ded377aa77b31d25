import type { Statements } from "../../db/postgres.ts";
import { NOW } from "./postgres-moments.ts";
import { LEASE, type Lease, type SharedLog } from "./shared-log.ts";

/** Leases of tables, by the database's clock. */
export function createLeases(sql: Statements, lasts = LEASE) {
  /** Those that this process has, by table. */
  const held = new Map<string, Lease>();
  const isHeld = (lease: Lease) => held.get(lease.table) === lease;

  const leases: Pick<SharedLog, "lease" | "renew" | "release"> = {
    async lease(table, owner) {
      // Another opening of the table, in this very process.
      if (held.has(table)) return null;
      const [row] = await sql.rows(
        `UPDATE heads SET lease_until = ${NOW} + $3::bigint, owner = $2,
           epoch = CASE WHEN owner = $2 THEN epoch ELSE epoch + 1 END
         WHERE name = $1 AND (owner = $2 OR lease_until < ${NOW}) RETURNING epoch`,
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
        `UPDATE heads SET lease_until = ${NOW} + $4::bigint
         WHERE name = $1 AND owner = $2 AND epoch = $3::bigint RETURNING name`,
        [table, owner, epoch, lasts],
      );
      return isHeld(lease) && rows.length > 0;
    },

    async release(lease) {
      if (isHeld(lease)) held.delete(lease.table);
      await sql.rows(
        "UPDATE heads SET lease_until = 0 WHERE name = $1 AND owner = $2 AND epoch = $3::bigint",
        [lease.table, lease.owner, lease.epoch],
      );
    },
  };
  return { ...leases, of: (table: string): Lease | null => held.get(table) ?? null };
}
