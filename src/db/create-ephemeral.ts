import { LRUCache } from "lru-cache";
import { createRateLimit } from "../timing/rate-limit.ts";
import type { Database } from "./database.ts";
import type { Ephemeral } from "./ephemeral.ts";
import { createPostgresEphemeral } from "./postgres-ephemeral.ts";
import { createSecret, hashSecret } from "./secret.ts";

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
