import { LRUCache } from "lru-cache";
import { createRateLimit } from "../rate-limit.ts";
import type { Database } from "./database.ts";
import { createPostgresEphemeral } from "./postgres-ephemeral.ts";
import { createSecret, hashSecret } from "./secret.ts";

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

/** Entries of each kind in memory. Strangers can cause some of them; the oldest are evicted first. */
const MAX_ENTRIES = 10_000;

/** The store that fits the kind of database. @param clock milliseconds since 1970 */
export function createEphemeral({ db, clock }: { db: Database; clock: () => number }): Ephemeral {
  return db.dialect.name === "sqlite"
    ? createLocalEphemeral(clock)
    : createPostgresEphemeral({ db, clock });
}

/** Keeps the values in the memory of this process. @param clock milliseconds since 1970 */
export function createLocalEphemeral(clock: () => number): Ephemeral {
  type Entry = { value: string; until: number };
  const values = new LRUCache<string, Entry>({ max: MAX_ENTRIES });
  const added = new LRUCache<string, number>({ max: MAX_ENTRIES });

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
