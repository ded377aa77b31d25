import { createCipheriv, createDecipheriv } from "node:crypto";
import { and, desc, eq, gt, inArray, lte, sql } from "drizzle-orm";
import { LRUCache } from "lru-cache";
import { createRateLimit } from "../timing/rate-limit.ts";
import type { Dialect, StoreParts } from "./database.ts";
import { createSecret, hashSecret } from "./id.ts";

/** The remaining attempts of each key, such as of an address that guesses passwords. */
export interface Tries {
  /** Uses one try of a key. When none remains, returns the seconds until the next one. */
  take(key: string): Promise<number | null>;
  /** Returns a try, after a successful attempt. */
  giveBack(key: string): Promise<void>;
}

/** A key has `tries` at once, and regains as many in each `period`. */
interface TryLimit {
  tries: number;
  /** Milliseconds. */
  period: number;
  /**
   * In memory, keys share this many counters, so that a flood of keys evicts none. A secret salt decides
   * which keys share one.
   */
  places?: number;
}

/** Short-lived values that may be lost, of one server or of all servers that share a database. */
export interface Ephemeral {
  /** Stores a value and replaces an earlier one. @param lifetime in milliseconds */
  put(key: string, value: string, lifetime: number): Promise<void>;
  /** Removes and returns a value; null when it was taken before or has expired. */
  take(key: string): Promise<string | null>;
  /** Stores a key. Returns false when it is already stored. @param lifetime in milliseconds */
  add(key: string, lifetime: number): Promise<boolean>;
  /** @param name separates the keys of this limit from those of others */
  limit(name: string, limit: TryLimit): Tries;
}

/** Milliseconds between two removals of expired rows. */
const PRUNE_INTERVAL_MS = 60_000;
/** Rows that a removal keeps at most: those that expire last. */
const MAX_ROWS = 100_000;

function createEphemeralTable({ table, text, integer }: Dialect) {
  return table("ephemeral", {
    key: text("key").primaryKey(),
    value: text("value").notNull(),
    expiresAt: integer("expires_at").notNull(),
  });
}

/**
 * Keeps the values in a PostgreSQL table that all servers share. The table has hashes of the keys, and
 * values encrypted with the keys: reading the table reveals neither.
 */
function createPostgresEphemeral({ db, clock }: StoreParts): Ephemeral {
  const { orm } = db;
  const rows = db.tables(createEphemeralTable);
  const { expiresAt } = rows;
  let prunedAt = Number.NEGATIVE_INFINITY;

  const prune = async (now: number) => {
    if (Math.abs(now - prunedAt) < PRUNE_INTERVAL_MS) return;
    prunedAt = now;
    await orm.delete(rows).where(lte(expiresAt, now));
    const surplus = orm
      .select({ key: rows.key })
      .from(rows)
      .orderBy(desc(expiresAt))
      .offset(MAX_ROWS);
    await orm.delete(rows).where(inArray(rows.key, surplus));
  };

  return {
    async put(key, value, lifetime) {
      const now = clock();
      await prune(now);
      const row = { value: seal(key, value), expiresAt: now + lifetime };
      await orm
        .insert(rows)
        .values({ key: nameOf("value", key), ...row })
        .onConflictDoUpdate({ target: rows.key, set: row });
    },

    async take(key) {
      const isLive = and(eq(rows.key, nameOf("value", key)), gt(expiresAt, clock()));
      const [taken] = await orm.delete(rows).where(isLive).returning({ value: rows.value });
      return taken ? open(key, taken.value) : null;
    },

    async add(key, lifetime) {
      const now = clock();
      await prune(now);
      const row = { key: nameOf("added", key), value: "", expiresAt: now + lifetime };
      const added = await orm
        .insert(rows)
        .values(row)
        .onConflictDoUpdate({
          target: rows.key,
          set: { expiresAt: row.expiresAt },
          setWhere: lte(expiresAt, now),
        })
        .returning({ key: rows.key });
      return added.length > 0;
    },

    // The generic cell rate algorithm: a row stores the time at which all tries are available again.
    limit(name, { tries, period }) {
      const interval = Math.ceil(period / tries);
      const hasKey = (key: string) => eq(rows.key, nameOf(`limit ${name}`, key));
      return {
        async take(key) {
          const now = clock();
          await prune(now);
          // A clock that was set back must not use up tries, and other servers' clocks may be slightly ahead.
          const known = sql`least(greatest(${expiresAt}, ${now}), ${now + period})`;
          const full = sql`CASE WHEN ${expiresAt} > ${now + 2 * period} THEN ${now} ELSE ${known} END`;
          const taken = await orm
            .insert(rows)
            .values({ key: nameOf(`limit ${name}`, key), value: "", expiresAt: now + interval })
            .onConflictDoUpdate({
              target: rows.key,
              set: { expiresAt: sql`${full} + ${interval}` },
              setWhere: sql`${full} <= ${now + period - interval}`,
            })
            .returning({ key: rows.key });
          if (taken.length > 0) return null;
          const [row] = await orm.select({ expiresAt }).from(rows).where(hasKey(key));
          const next = Math.min(row?.expiresAt ?? 0, now + period) + interval - period;
          return Math.max(1, Math.ceil((next - now) / 1_000));
        },

        async giveBack(key) {
          await orm
            .update(rows)
            .set({ expiresAt: sql`${expiresAt} - ${interval}` })
            .where(and(hasKey(key), gt(expiresAt, clock())));
        },
      };
    },
  };
}

const nameOf = (kind: string, key: string) => hashSecret(`ephemeral ${kind} ${key}`);

const CIPHER = "aes-256-gcm";
const IV_BYTES = 12;
const TAG_BYTES = 16;

/** The encryption key, derived from the entry's key, which no table contains. */
function cipherKey(key: string): Buffer {
  return Buffer.from(hashSecret(`ephemeral seal ${key}`), "hex");
}

function seal(key: string, value: string): string {
  const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
  const cipher = createCipheriv(CIPHER, cipherKey(key), iv);
  const sealed = [iv, cipher.update(value, "utf8"), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(sealed).toString("base64url");
}

function open(key: string, sealed: string): string {
  const bytes = Buffer.from(sealed, "base64url");
  const decipher = createDecipheriv(CIPHER, cipherKey(key), bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
  const text = decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES));
  return Buffer.concat([text, decipher.final()]).toString();
}

/** Entries of each kind in memory. Strangers can cause some of them; the oldest are evicted first. */
const MAX_ENTRIES = 10_000;

/** The store that fits the kind of database. @param clock milliseconds since 1970 */
export function createEphemeral({ db, clock }: StoreParts): Ephemeral {
  return db.dialect.name === "sqlite"
    ? createLocalEphemeral(clock)
    : createPostgresEphemeral({ db, clock });
}

/** Keeps the values in the memory of this process. @param clock milliseconds since 1970 */
export function createLocalEphemeral(clock: () => number): Ephemeral {
  type Entry = { value: string; until: number };
  // `max` would reserve the room of all entries at the start.
  const limits = { maxSize: MAX_ENTRIES, sizeCalculation: () => 1 };
  const values = new LRUCache<string, Entry>(limits);
  const added = new LRUCache<string, number>(limits);

  return {
    async put(key, value, lifetime) {
      values.set(key, { value, until: clock() + lifetime });
    },

    async take(key) {
      const entry = values.get(key);
      values.delete(key);
      return entry && entry.until > clock() ? entry.value : null;
    },

    async add(key, lifetime) {
      const until = added.get(key);
      if (until !== undefined && until > clock()) return false;
      added.set(key, clock() + lifetime);
      return true;
    },

    limit(_, { tries, period, places }) {
      const limit = createRateLimit({ tries, period, clock });
      const counterOf = places === undefined ? (key: string) => key : createCounterNames(places);
      return {
        take: async (key) => limit.take(counterOf(key)),
        giveBack: async (key) => limit.giveBack(counterOf(key)),
      };
    },
  };
}

function createCounterNames(places: number): (key: string) => string {
  const salt = createSecret("");
  return (key) => `${Number.parseInt(hashSecret(salt + key).slice(0, 8), 16) % places}`;
}
