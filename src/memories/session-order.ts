import { LRUCache } from "lru-cache";

/** Sessions whose newest time is remembered: turns of one come together. */
const SESSIONS = 10_000;

/** A time as it was said, and as it is kept. */
interface Times {
  said: number;
  kept: number;
}

/**
 * Makes what keeps turns of a session in the order in which they come: those that share a time are
 * kept a millisecond apart. Lists and the ranking know the order of turns by their times alone.
 * @returns the time to keep, in milliseconds since 1970
 */
export function createSessionOrder(): (session: string, said: number) => number {
  const newest = new LRUCache<string, Times>({ max: SESSIONS });
  return (session, said) => {
    const last = newest.get(session);
    // What goes back in time is a place of its own: it does not wait for what came before it here.
    const follows = last !== undefined && said >= last.said;
    const kept = follows ? Math.max(said, last.kept + 1) : said;
    newest.set(session, { said, kept });
    return kept;
  };
}
