import type { Postgres, Statements } from "../../db/postgres.ts";
import type { Usage } from "../model/quota.ts";
import { ANSWER_LIFETIME } from "./log.ts";
import { createBaseRecords } from "./postgres-bases.ts";
import { dropTables } from "./postgres-checkpoints.ts";
import { type createLeases, NOW, readNames } from "./postgres-leases.ts";
import type { Lease } from "./records.ts";
import {
  LeaseLost,
  type Leases,
  type NumberedEntry,
  type SharedLog,
  type TableHead,
} from "./shared-log.ts";

/** Limits of one statement that reads entries: their number, and the bytes after which it reads no further one. */
const READ = { entries: 256, bytes: 4 << 20 };

interface TableHeadRow {
  table: string;
  seq: number;
  base: string | null;
  version: number;
  upTo: number;
}

interface SinceRow extends Usage {
  newest: number;
  upTo: number;
  model: string | null;
  seq: number | null;
  id: string;
  written: Uint8Array | null;
  removed: string;
  leavesOldData: boolean;
}

export function createSharedLog(
  postgres: Postgres,
  leases: ReturnType<typeof createLeases>,
  copying: Leases,
): SharedLog {
  return {
    async position(accountId) {
      const [row] = await postgres.query<TableHeadRow & { model: string | null }>(
        `SELECT coalesce(t.name, a.id) AS "table", nullif(t.model, '') AS model,
           coalesce(h.seq, 0) AS seq, c.base, c.version, c.up_to AS "upTo"
         FROM accounts a LEFT JOIN tables t ON t.account_id = a.id
           LEFT JOIN heads h ON h.name = coalesce(t.name, a.id)
           LEFT JOIN checkpoints c ON c.name = h.name
         WHERE a.id = $1`,
        [accountId],
      );
      return row ? { ...toTableHead(row), model: row.model } : null;
    },

    async heads(tables) {
      const rows = await postgres.query<TableHeadRow>(
        `SELECT h.name AS "table", h.seq, c.base, c.version, c.up_to AS "upTo"
         FROM heads h LEFT JOIN checkpoints c USING (name) WHERE h.name = ANY($1::text[])`,
        [tables],
      );
      return rows.map(toTableHead);
    },

    async since(table, seq) {
      const rows = await postgres.query<SinceRow>(
        `SELECT h.seq AS newest, coalesce(c.up_to, 0) AS "upTo", nullif(t.model, '') AS model,
           e.seq, e.id, e.written, e.removed, e.has_remains AS "leavesOldData", e.memories, e.bytes
         FROM heads h LEFT JOIN checkpoints c USING (name)
           LEFT JOIN tables t ON t.account_id = h.account_id AND t.name = h.name
           LEFT JOIN (
             SELECT *, sum(coalesce(length(written), 0)) OVER (ORDER BY seq) AS total
             FROM journal WHERE name = $1 AND seq > $2::bigint ORDER BY seq LIMIT ${READ.entries}
           ) e ON total - coalesce(length(e.written), 0) <= ${READ.bytes}
         WHERE h.name = $1 AND ($2 = 0 OR h.seq = $2 OR c.up_to >= $2
           OR EXISTS (SELECT 1 FROM journal WHERE name = $1 AND seq = $2))
         ORDER BY e.seq`,
        [table, seq],
      );
      const [first] = rows;
      if (!first) return null;
      const { newest, upTo, model } = first;
      return { seq: newest, upTo, model, entries: rows.flatMap(toEntries) };
    },

    lease: leases.lease,
    renew: leases.renew,
    release: leases.release,

    overdue: (limit) =>
      readNames(
        postgres,
        `SELECT name FROM heads WHERE due_at < ${NOW} AND lease_until < ${NOW}
         ORDER BY due_at LIMIT $1::bigint`,
        [limit],
      ),

    copying,

    replace: (accountId, tables, lease) =>
      postgres.transaction((tx) => replaceTable(tx, accountId, tables, lease)),

    async forgetCopies(isWanted) {
      const copies = await postgres.query<{ name: string; accountId: string }>(
        `SELECT h.name, h.account_id AS "accountId" FROM heads h JOIN tables t USING (account_id)
         WHERE h.name <> t.name`,
      );
      const forgotten: string[] = [];
      for (const { name, accountId } of copies) {
        if (isWanted(name, accountId)) continue;
        if (await postgres.transaction((tx) => forgetCopy(tx, name, accountId))) {
          forgotten.push(name);
        }
      }
      return forgotten;
    },

    async setModel(accountId, { name, model }) {
      await postgres.rows("UPDATE tables SET model = $3 WHERE account_id = $1 AND name = $2", [
        accountId,
        name,
        model ?? "",
      ]);
    },

    forgetAccount: (accountId) =>
      postgres.transaction(async (tx) => {
        // In the order of `replace`, so that the two do not wait for each other.
        await tx.rows("DELETE FROM copies WHERE account_id = $1", [accountId]);
        await tx.rows("DELETE FROM tables WHERE account_id = $1", [accountId]);
        const heads = "SELECT name FROM heads WHERE account_id = $1 FOR UPDATE";
        const names = await readNames(tx, heads, [accountId]);
        await dropTables(tx, names);
        await tx.rows("DELETE FROM idempotency_keys WHERE account_id = $1", [accountId]);
        return await readNames(tx, "SELECT base FROM bases WHERE name = ANY($1::text[])", [names]);
      }),

    async expireAnswers() {
      await postgres.rows("DELETE FROM idempotency_keys WHERE created_at <= $1::bigint", [
        Date.now() - ANSWER_LIFETIME,
      ]);
    },

    records: createBaseRecords(postgres, leases.of),
  };
}

async function replaceTable(
  tx: Statements,
  accountId: string,
  { from, seq, to }: Parameters<SharedLog["replace"]>[1],
  { owner, epoch }: Lease,
): Promise<boolean> {
  const [copy] = await tx.rows(
    `SELECT 1 FROM copies WHERE account_id = $1 AND owner = $2 AND epoch = $3::bigint FOR UPDATE`,
    [accountId, owner, epoch],
  );
  if (!copy) throw new LeaseLost(`another process may copy the table of ${accountId}`);
  // The record of the current table before its head, as the first entry of a table does.
  const [present] = await tx.rows(
    "SELECT 1 FROM tables WHERE account_id = $1 AND name = $2 FOR UPDATE",
    [accountId, from],
  );
  if (!present) throw new LeaseLost(`${from} is not the table of ${accountId} any more`);
  const [head] = await tx.rows("SELECT seq FROM heads WHERE name = $1 FOR UPDATE", [from]);
  if ((head?.[0] ?? 0) !== seq) return false;
  const current = [accountId, to.name, to.model ?? ""];
  await tx.rows("UPDATE tables SET name = $2, model = $3 WHERE account_id = $1", current);
  // Without a lease, a process that is still copying can write nothing.
  await tx.rows("DELETE FROM copies WHERE account_id = $1", [accountId]);
  await dropTables(tx, [from]);
  return true;
}

/** Drops a copy, unless a process is writing it or it has become the account's table. */
async function forgetCopy(tx: Statements, name: string, accountId: string): Promise<boolean> {
  // A process that begins to copy now waits for this row. One that was suspended finds no lease.
  await tx.rows("INSERT INTO copies SELECT $1 ON CONFLICT DO NOTHING", [accountId]);
  const [lease] = await tx.rows(
    `SELECT lease_until < ${NOW} FROM copies WHERE account_id = $1 FOR UPDATE`,
    [accountId],
  );
  const current = await tx.rows("SELECT 1 FROM tables WHERE name = $1", [name]);
  if (lease?.[0] !== true || current.length > 0) return false;
  await dropTables(tx, [name]);
  await tx.rows("DELETE FROM copies WHERE account_id = $1", [accountId]);
  return true;
}

function toTableHead({ table, seq, base, version, upTo }: TableHeadRow): TableHead {
  return { table, seq, checkpoint: base === null ? null : { base, version, upTo } };
}

/** The entry of a row; none if the table has no newer entries. */
function toEntries(row: SinceRow): NumberedEntry[] {
  const { seq, id, written, removed, leavesOldData, memories, bytes } = row;
  if (seq === null) return [];
  const usage = { memories, bytes };
  return [{ seq, id, written, leavesOldData, removed: JSON.parse(removed), usage }];
}
