import { LRUCache } from "lru-cache";

/** How many keys are remembered. A forgotten key has all tries again. */
const MAX_KEYS = 20_000;

export type RateLimit = ReturnType<typeof createRateLimit>;

/**
 * A token bucket for each key: `tries` at once, and the same number again in every `period`.
 * @param period in milliseconds, as `clock` counts
 */
export function createRateLimit({
  tries,
  period,
  clock,
}: {
  tries: number;
  period: number;
  clock: () => number;
}) {
  // `max` would reserve a megabyte for all keys at once, and take milliseconds of each start.
  const buckets = new LRUCache<string, { left: number; at: number }>({
    maxSize: MAX_KEYS,
    sizeCalculation: () => 1,
  });
  const refill = (key: string) => {
    const now = clock();
    const bucket = buckets.get(key) ?? { left: tries, at: now };
    // A clock that was set back must not take away remaining tries.
    const elapsed = Math.max(0, now - bucket.at);
    const left = Math.min(tries, bucket.left + (elapsed / period) * tries);
    return { left, at: now };
  };

  return {
    /**
     * Takes tries from a key, by default one. Returns the seconds until it has as many if it has fewer; null
     * otherwise.
     */
    take(key: string, wanted = 1): number | null {
      const bucket = refill(key);
      if (bucket.left < wanted)
        return Math.ceil((((wanted - bucket.left) / tries) * period) / 1000);
      buckets.set(key, { ...bucket, left: bucket.left - wanted });
      return null;
    },
    /** Returns a try that succeeded. */
    giveBack(key: string): void {
      const bucket = refill(key);
      buckets.set(key, { ...bucket, left: Math.min(tries, bucket.left + 1) });
    },
    /** The tries that a key has left, and the seconds until it has all of them. */
    state(key: string) {
      const { left } = refill(key);
      const full = Math.ceil((((tries - left) / tries) * period) / 1000);
      return { left: Math.floor(left), full };
    },
  };
}

/**
 * The /48 network of an IPv6 address, which one customer may own as a whole; null for an IPv4 address.
 * It is counted in addition to the address.
 * @param address or its /64 network, with all groups written out
 */
export function siteOf(address: string): string | null {
  return address.includes(":") ? address.split(":", 3).join(":") : null;
}
