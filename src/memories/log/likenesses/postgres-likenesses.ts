import type { Postgres, Statements } from "../../../db/postgres.ts";
import type { Lease } from "../records.ts";
import { LeaseLost } from "../shared-log.ts";
import {
  type ComparedTo,
  type Likeness,
  type Likenesses,
  PAGE,
  parcelsOf,
  readInPages,
} from "./likenesses.ts";

/** The likenesses in a PostgreSQL database. */
export function createPostgresLikenesses(postgres: Postgres): Likenesses {
  return {
    all: (table) =>
      readInPages(({ later, earlier }) =>
        postgres.query<Likeness>(
          `SELECT later, earlier, kind, changed_at AS "changedAt" FROM likenesses
           WHERE name = $1 AND (later, earlier) > ($2, $3) ORDER BY later, earlier LIMIT ${PAGE}`,
          [table, later, earlier],
        ),
      ),

    async state(table) {
      const [row] = await postgres.query<{
        position: string | null;
        number: number | null;
        ids: string;
      }>(
        `SELECT (SELECT position FROM comparisons WHERE name = $1) AS position, u.number, u.ids
         FROM (SELECT 1) one LEFT JOIN LATERAL (
           SELECT number, ids FROM uncompared WHERE name = $1 ORDER BY number LIMIT 1
         ) u ON true`,
        [table],
      );
      const mark: { comparedTo: ComparedTo } | null = row?.position
        ? JSON.parse(row.position)
        : null;
      const number = row?.number ?? null;
      return {
        comparedTo: mark?.comparedTo,
        parcel: number === null ? null : { number, ids: JSON.parse(row?.ids ?? "[]") },
      };
    },

    async note(table, toCompare, toDrop) {
      for (const ids of parcelsOf(toCompare)) {
        await postgres.query("INSERT INTO uncompared (name, ids) VALUES ($1, $2)", [
          table,
          JSON.stringify(ids),
        ]);
      }
      for (const ids of parcelsOf(toDrop)) {
        await postgres.query(
          `DELETE FROM likenesses WHERE name = $1
             AND (later = ANY($2::text[]) OR earlier = ANY($2::text[]))`,
          [table, ids],
        );
      }
    },

    record: (table, found, done, lease) =>
      postgres.transaction(async (tx) => {
        // The lock keeps the table until the end of the transaction.
        const heads = await tx.rows("SELECT 1 FROM heads WHERE name = $1 FOR KEY SHARE", [table]);
        if (heads.length === 0) return false;
        const column = (field: keyof Likeness) => found.map((each) => each[field]);
        if (found.length > 0) {
          await tx.rows(
            `INSERT INTO likenesses (name, later, earlier, kind, changed_at)
             SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[])
             ON CONFLICT (name, later, earlier)
             DO UPDATE SET kind = excluded.kind, changed_at = excluded.changed_at`,
            [table, column("later"), column("earlier"), column("kind"), column("changedAt")],
          );
        }
        if ("parcel" in done) {
          const { parcel, left } = done;
          await (left.length === 0
            ? tx.rows("DELETE FROM uncompared WHERE number = $1::bigint", [parcel])
            : tx.rows("UPDATE uncompared SET ids = $2 WHERE number = $1::bigint", [
                parcel,
                JSON.stringify(left),
              ]));
        } else {
          await tx.rows(
            `INSERT INTO comparisons (name, position) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET position = excluded.position`,
            [table, JSON.stringify(done)],
          );
        }
        if (lease) await checkLease(tx, lease);
        return true;
      }),

    reset: (table) =>
      postgres.transaction(async (tx) => {
        for (const each of ["likenesses", "uncompared", "comparisons"]) {
          await tx.rows(`DELETE FROM ${each} WHERE name = $1`, [table]);
        }
      }),
  };
}

/** Lets no other process take a lease, or append, until the end of the transaction. @throws LeaseLost */
async function checkLease(tx: Statements, { table, owner, epoch }: Lease): Promise<void> {
  const held = await tx.rows(
    "SELECT 1 FROM heads WHERE name = $1 AND owner = $2 AND epoch = $3::bigint FOR SHARE",
    [table, owner, epoch],
  );
  if (held.length === 0) throw new LeaseLost(`another process may have compared ${table}`);
}
