import type { Postgres, Statements } from "../../db/postgres.ts";
import { createPostgresLikenesses } from "./likenesses/postgres-likenesses.ts";
import type { Log } from "./log.ts";
import { appendEntry } from "./postgres-append.ts";
import { recordUnderLease } from "./postgres-checkpoints.ts";
import { createLeases, type Overdue, readNames, STATEMENT_TIME } from "./postgres-leases.ts";
import { createSharedLog } from "./postgres-shared-log.ts";
import { type CurrentTable, type LoggedEntry, usageOf } from "./records.ts";
import { LeaseLost, type SharedLog } from "./shared-log.ts";

/** Long after the process that has the table open should have flushed it. */
const OVERDUE: Overdue = { flush: 2 * 3_600_000, forget: 25_000 };
/** Entries that one statement deletes. */
const EXPUNGED_PER_STATEMENT = 500;

/** Milliseconds in which a process may delete what has expired in a table, before another process does. */
const EXPIRING_MS = 10_000;
/** The database's clock counts too, so that a process whose clock is ahead deletes nothing too early. */
const EXPIRED = `WITH due AS (
  SELECT h.name, t.account_id FROM heads h JOIN tables t ON t.name = h.name
  WHERE h.expires_at <= least($1::bigint, ${STATEMENT_TIME})
    AND coalesce(h.expiring_until, 0) < ${STATEMENT_TIME}
  ORDER BY h.expires_at LIMIT $2::bigint FOR UPDATE OF h SKIP LOCKED
) UPDATE heads h SET expiring_until = ${STATEMENT_TIME} + $3::bigint FROM due WHERE h.name = due.name
  RETURNING due.account_id`;

interface HeadRow {
  seq: number;
  memories: number | null;
  bytes: number | null;
  base: string | null;
  version: number;
  files: string;
  upTo: number;
}

/**
 * The log in a PostgreSQL database, to which any number of processes write. Each decision is a single statement, which
 * locks the table's head first.
 * @param leaseLasts milliseconds that a lease lasts unless it is renewed
 * @param expiring milliseconds in which a process may delete what has expired in a table
 */
export function createPostgresLog(
  postgres: Postgres,
  {
    overdue = OVERDUE,
    expiring = EXPIRING_MS,
    leaseLasts,
  }: { overdue?: Overdue; expiring?: number; leaseLasts?: number } = {},
): Log & { shared: SharedLog } {
  const leases = createLeases(postgres, "heads", leaseLasts);
  const copying = createLeases(postgres, "copies", leaseLasts);

  return {
    append: (table, entry) => appendEntry(postgres, table, entry, overdue),

    async entries(table) {
      const rows = await postgres.query<Omit<LoggedEntry, "removed"> & { removed: string }>(
        `SELECT seq, written, removed, has_remains AS "leavesOldData" FROM journal WHERE name = $1
           AND seq > coalesce((SELECT up_to FROM checkpoints WHERE name = $1), 0) ORDER BY seq`,
        [table],
      );
      return rows.map((row) => ({ ...row, removed: JSON.parse(row.removed) }));
    },

    async head(table) {
      const [row] = await postgres.query<HeadRow>(
        `SELECT h.seq, h.memories, h.bytes, c.base, c.version, c.files, c.up_to AS "upTo"
         FROM heads h LEFT JOIN checkpoints c USING (name) WHERE name = $1`,
        [table],
      );
      if (!row) return null;
      const { seq, memories, bytes, base, version, files, upTo } = row;
      return {
        seq,
        usage: usageOf(memories, bytes),
        checkpoint: base === null ? null : { base, version, upTo, files: JSON.parse(files) },
      };
    },

    tables: () => readNames(postgres, "SELECT name FROM heads"),

    async size() {
      const [row] = await postgres.rows("SELECT count(*) FROM journal");
      return Number(row?.[0] ?? 0);
    },

    async checkpoint(table, checkpoint, lease) {
      if (!lease) throw new LeaseLost(`no lease of ${table} was given`);
      await recordUnderLease(postgres, table, checkpoint, lease, overdue);
    },

    async expunge(table) {
      while ((await deleteIncluded(postgres, table)) === EXPUNGED_PER_STATEMENT);
      return true;
    },

    async answer(accountId, keyHash, since) {
      type AnswerRow = { requestHash: string; memoryIds: string; createdAt: number };
      const [row] = await postgres.query<AnswerRow>(
        `SELECT request_hash AS "requestHash", memory_ids AS "memoryIds", created_at AS "createdAt"
         FROM idempotency_keys WHERE account_id = $1 AND key_hash = $2 AND created_at > $3::bigint`,
        [accountId, keyHash, since],
      );
      return row ? { ...row, accountId, keyHash, memoryIds: JSON.parse(row.memoryIds) } : null;
    },

    expired: (now, limit) => readNames(postgres, EXPIRED, [now, limit, expiring]),

    async setExpiry(table, seq, at) {
      const rows = await postgres.rows(
        `UPDATE heads SET expires_at = $3::bigint, expiring_until = NULL
         WHERE name = $1 AND seq = $2::bigint RETURNING 1`,
        [table, seq, at],
      );
      return rows.length > 0;
    },

    async current(accountId) {
      const [row] = await postgres.query<CurrentTable>(
        "SELECT name, nullif(model, '') AS model FROM tables WHERE account_id = $1",
        [accountId],
      );
      return row ?? null;
    },

    allCurrent: () =>
      postgres.query<CurrentTable & { accountId: string }>(
        `SELECT account_id AS "accountId", name, nullif(model, '') AS model
         FROM tables ORDER BY account_id`,
      ),

    likenesses: createPostgresLikenesses(postgres),
    shared: createSharedLog(postgres, leases, copying),
  };
}

/** Deletes entries that checkpoints include, as many as one statement deletes. Returns their number. */
async function deleteIncluded(sql: Statements, table: string | undefined): Promise<number> {
  const rows = await sql.rows(
    `DELETE FROM journal WHERE (name, seq) IN (
       SELECT j.name, j.seq FROM checkpoints c
         JOIN journal j ON j.name = c.name AND j.seq <= c.up_to
       WHERE $1::text IS NULL OR c.name = $1 LIMIT ${EXPUNGED_PER_STATEMENT}
     ) RETURNING 1`,
    [table ?? null],
  );
  return rows.length;
}
