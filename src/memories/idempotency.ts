import { and, eq, gt, lte, or } from "drizzle-orm";
import { index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { LRUCache } from "lru-cache";
import type { Database } from "../db/database.ts";
import { AppError } from "../errors.ts";
import { createTurns } from "../turns.ts";

/** How long a key is remembered, in milliseconds. */
const LIFETIME = 24 * 3_600_000;

/**
 * Which memories a request with an `Idempotency-Key` made. The answer itself is not kept: it is
 * read from the memories again, so that there is no second copy of a text to forget.
 */
export const idempotencyKeys = sqliteTable(
  "idempotency_keys",
  {
    accountId: text("account_id").notNull(),
    keyHash: text("key_hash").notNull(),
    requestHash: text("request_hash").notNull(),
    memoryIds: text("memory_ids", { mode: "json" }).$type<string[]>().notNull(),
    createdAt: integer("created_at").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.accountId, table.keyHash] }),
    index("idempotency_keys_created_at").on(table.createdAt),
  ],
);

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Keys that are kept in mind because the disk refused to forget them. */
const MAX_STALE = 10_000;

/** Makes a request that is sent twice with one key happen once. `clock` gives milliseconds. */
export function createIdempotency({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const table = idempotencyKeys;
  /** Requests that are under way, by account and key. */
  const underWay = new Map<string, { requestHash: string; ids: Promise<string[]> }>();

  /** Those whose rows tell of memories that were never made, and could not be removed. */
  const stale = new LRUCache<string, true>({ max: MAX_STALE });

  const check = (known: string, requestHash: string) => {
    if (known === requestHash) return;
    throw new AppError(
      "validation_failed",
      "This Idempotency-Key was used for another request. Use a new key for a new request.",
      { details: [{ path: "/Idempotency-Key", message: "was used for another request" }] },
    );
  };

  return {
    /**
     * Ids of the memories that `create` makes, or that it made when it was first called with this
     * key in the last 24 hours.
     * @param request what the key was sent with; the same key with another request is refused
     * @param create must call `remember` with the ids in the transaction that makes them durable, and
     *   what that returns in one that takes them back
     * @throws AppError `validation_failed`
     */
    async once(
      accountId: string,
      key: string,
      request: unknown,
      create: (remember: (memoryIds: string[]) => () => void) => Promise<string[]>,
    ): Promise<string[]> {
      const keyHash = hash(key);
      const requestHash = await hashList(Array.isArray(request) ? request : [request]);
      const name = `${accountId} ${keyHash}`;

      const running = underWay.get(name);
      if (running) {
        check(running.requestHash, requestHash);
        return running.ids;
      }
      const since = clock() - LIFETIME;
      const isThis = and(eq(table.accountId, accountId), eq(table.keyHash, keyHash));
      const known = orm
        .select()
        .from(table)
        .where(and(isThis, gt(table.createdAt, since)))
        .get();
      if (known && !stale.has(name)) {
        check(known.requestHash, requestHash);
        return known.memoryIds;
      }

      const forget = () => void orm.delete(table).where(isThis).run();
      const forgetStale = (made: string[]) => {
        stale.delete(name);
        return made;
      };
      const ids = create((memoryIds) => {
        orm
          .delete(table)
          .where(or(lte(table.createdAt, since), isThis))
          .run();
        const row = { accountId, keyHash, requestHash, memoryIds, createdAt: clock() };
        orm.insert(table).values(row).run();
        return forget;
      }).then(forgetStale, (error) => {
        // The row may have been written when the memories could not be: the key is free again.
        if (!db.attempt(forget)) stale.set(name, true);
        throw error;
      });
      underWay.set(name, { requestHash, ids });
      return ids.finally(() => underWay.delete(name));
    },
  };
}

/** The hash of a list as JSON. It may be long: others have their turn between its items. */
async function hashList(items: readonly unknown[]): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256").update("[");
  const turn = createTurns();
  for (const [index, item] of items.entries()) {
    hasher.update((index === 0 ? "" : ",") + JSON.stringify(item));
    await turn();
  }
  return hasher.update("]").digest("hex");
}

function hash(text: string) {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
