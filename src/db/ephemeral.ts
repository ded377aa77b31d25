import { LRUCache } from "lru-cache";
import { createRateLimit } from "../rate-limit.ts";
import type { Database } from "./database.ts";
import { createPostgresEphemeral } from "./postgres-ephemeral.ts";
import { createSecret, hashSecret } from "./secret.ts";

/** Tries that who guesses has. */
export interface Tries {
  /** Takes one try of a key. Returns the seconds to wait for the next one when there is none left. */
  take(key: string): Promise<number | null>;
  /** Gives a try back that turned out well. */
  giveBack(key: string): Promise<void>;
}

/** How many tries a key has: `tries` at once, and as many again in every `period`, in milliseconds. */
export interface TryLimit {
  tries: number;
  period: number;
  /**
   * Has keys share so many places where memory is bounded, so that a flood of keys pushes none out. Who
   * shares a place is a secret.
   */
  places?: number;
}

/** What is remembered for a while and may be lost: by one server, or by all that share a database. */
export interface Ephemeral {
  /** Keeps a value, instead of one that was kept. @param lifetime in milliseconds */
  put(key: string, value: string, lifetime: number): Promise<void>;
  /** The value, one time; null when it was taken before, or is not there any more. */
  take(key: string): Promise<string | null>;
  /** Remembers a key. Returns false when that was there. @param lifetime in milliseconds */
  add(key: string, lifetime: number): Promise<boolean>;
  /** @param name tells the keys of one limit from those of another */
  limit(name: string, limit: TryLimit): Tries;
}

/** Entries that one server keeps of each kind: strangers can have some made, and the oldest go first. */
const MOST = 10_000;

/** @param clock milliseconds since 1970 */
export function createEphemeral({ db, clock }: { db: Database; clock: () => number }): Ephemeral {
  return db.dialect.name === "sqlite"
    ? createLocalEphemeral(clock)
    : createPostgresEphemeral({ db, clock });
}

/** In the memory of this process. @param clock milliseconds since 1970 */
export function createLocalEphemeral(clock: () => number): Ephemeral {
  type Entry = { value: string; until: number };
  const values = new LRUCache<string, Entry>({ max: MOST });
  const added = new LRUCache<string, number>({ max: MOST });

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
      const placeOf = places === undefined ? (key: string) => key : createPlaces(places);
      return {
        take: async (key) => limit.take(placeOf(key)),
        giveBack: async (key) => limit.giveBack(placeOf(key)),
      };
    },
  };
}

function createPlaces(places: number): (key: string) => string {
  const salt = createSecret("");
  return (key) => `${Number.parseInt(hashSecret(salt + key).slice(0, 8), 16) % places}`;
}
