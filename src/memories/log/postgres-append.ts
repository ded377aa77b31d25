import { randomUUID } from "node:crypto";
import { sqlState } from "../../db/database-error.ts";
import type { Statements } from "../../db/postgres.ts";
import { ANSWER_LIFETIME, AnswersTaken, accountOf, StaleAppendError } from "./log.ts";
import { NOW, type Overdue } from "./postgres-leases.ts";
import type { Entry, IdempotencyRecord } from "./records.ts";

const UNIQUE_VIOLATION = "23505";

/**
 * Locks the lease of a copy until the entry is committed, so that no other process takes the lease. A lease does not
 * count for the account's current table: that is no copy.
 */
const LEASE = `l AS (
  SELECT 1 FROM copies WHERE account_id = $12 AND owner = $13 AND epoch = $14::bigint
    AND NOT EXISTS (SELECT 1 FROM tables WHERE account_id = $12 AND name = $1) FOR SHARE
)`;
const HAS_LEASE = "($12::text IS NULL OR EXISTS (SELECT 1 FROM l))";

/** Numbers an entry of a table that has a head. */
const NEXT = `WITH ${LEASE}, h AS (
  UPDATE heads SET seq = seq + 1, memories = $3::bigint, bytes = $4::bigint,
    due_at = least(due_at, ${NOW} + $5::bigint), expires_at = least(expires_at, $16::bigint)
  WHERE name = $1 AND ($2::bigint IS NULL OR seq = $2) AND ${HAS_LEASE} RETURNING seq
)`;

/**
 * Numbers the first entry of a table. The account must exist, and is locked until the entry is committed: a removed
 * account must not reappear. So is the record of its current table, which must be this table unless this is a copy: a
 * table that is being replaced must not reappear either. Numbers begin with the time, so a table that was dropped and created again has other
 * numbers.
 */
const FIRST = `WITH ${LEASE}, a AS (SELECT id FROM accounts WHERE id = $11 FOR KEY SHARE), t AS (
  INSERT INTO tables (account_id, name, model) SELECT id, $1, $15 FROM a WHERE $12::text IS NULL
  ON CONFLICT (account_id) DO UPDATE SET name = tables.name WHERE tables.name = excluded.name RETURNING 1
), h AS (
  INSERT INTO heads (name, account_id, seq, memories, bytes, due_at, expires_at)
  SELECT $1, id, ${NOW}, $3::bigint, $4::bigint, ${NOW} + $5::bigint, $16::bigint FROM a
  WHERE coalesce($2::bigint, 0) = 0 AND ${HAS_LEASE}
    AND ($2 IS NULL OR $12::text IS NOT NULL OR EXISTS (SELECT 1 FROM t))
  ON CONFLICT DO NOTHING RETURNING seq
)`;

const ENTRY = `, e AS (
  INSERT INTO journal (name, seq, id, written, removed, has_remains, memories, bytes, at)
  SELECT $1, seq, $6, $7::bytea, $8, $9::boolean, $3::bigint, $4::bigint, ${NOW} FROM h
), k AS (
  INSERT INTO idempotency_keys (account_id, key_hash, request_hash, memory_ids, created_at)
  SELECT k.* FROM h, json_to_recordset($10::text::json) AS k
    ("accountId" text, "keyHash" text, "requestHash" text, "memoryIds" text, "createdAt" bigint)
) SELECT seq FROM h`;

/** Mentions the parameters that only one of the statements uses, so that both have the same parameters. */
const ALL_PARAMETERS = " WHERE $11::text IS NOT NULL AND ($15::text IS NOT NULL)";

/**
 * Commits an entry in one statement.
 * @returns its number
 */
export async function appendEntry(
  sql: Statements,
  table: string,
  entry: Entry,
  overdue: Overdue,
): Promise<number> {
  const { after } = entry.shared ?? {};
  const parameters = parametersOf(table, entry, overdue);
  const append = async (statement: string) => {
    const [row] = await sql.rows(statement + ENTRY + ALL_PARAMETERS, parameters);
    return row === undefined ? null : Number(row[0]);
  };
  // Without `after`, another process may write the first entry between NEXT and FIRST.
  const statements = after === undefined ? [NEXT, FIRST, NEXT] : [after === 0 ? FIRST : NEXT];
  for (;;) {
    try {
      for (const statement of statements) {
        const seq = await append(statement);
        if (seq !== null) return seq;
      }
      throw new StaleAppendError(`${table} has no entry ${after ?? "yet, or no account"}`);
    } catch (error) {
      if (entry.answers.length === 0 || sqlState(error) !== UNIQUE_VIOLATION) throw error;
      const taken = await takenOf(sql, entry.answers);
      if (taken.length > 0) throw new AnswersTaken(taken);
    }
  }
}

/** The parameters of `NEXT` and `FIRST` with `ENTRY`, from $1 on. */
function parametersOf(table: string, entry: Entry, overdue: Overdue) {
  const { model, written, removed, leavesOldData, usage, expiresAt, answers, shared } = entry;
  const { id = randomUUID(), after, lease } = shared ?? {};
  return [
    table,
    after ?? null,
    usage.memories,
    usage.bytes,
    leavesOldData ? overdue.forget : overdue.flush,
    id,
    written,
    JSON.stringify(removed),
    leavesOldData,
    JSON.stringify(answers),
    accountOf(table),
    lease?.table ?? null,
    lease?.owner ?? null,
    lease?.epoch ?? null,
    model,
    expiresAt ?? null,
  ];
}

/** The answers that exist for some keys. Removes expired ones first. */
async function takenOf(sql: Statements, answers: readonly IdempotencyRecord[]) {
  const keys = JSON.stringify(answers);
  const ASKED = `json_to_recordset($1::text::json)
    AS k ("accountId" text, "keyHash" text, "createdAt" bigint)`;
  const IS_KEY = `i.account_id = k."accountId" AND i.key_hash = k."keyHash"`;
  await sql.rows(
    `DELETE FROM idempotency_keys i USING ${ASKED}
     WHERE ${IS_KEY} AND i.created_at <= k."createdAt" - ${ANSWER_LIFETIME}`,
    [keys],
  );
  return await sql.query<Pick<IdempotencyRecord, "accountId" | "keyHash">>(
    `SELECT k."accountId", k."keyHash" FROM idempotency_keys i, ${ASKED} WHERE ${IS_KEY}`,
    [keys],
  );
}
