/** Sessions whose newest time is remembered: turns of one come together. */
const SESSIONS = 10_000;

/** A time as it was said, and as it is kept. */
interface Times {
  said: number;
  kept: number;
}

/** @returns the time to keep, in milliseconds since 1970 */
export type SessionOrder = (session: string, said: number) => number;

/**
 * Makes what keeps turns of a session in the order in which they come: those that share a time are
 * kept a millisecond apart. Lists and the ranking know the order of turns by their times alone.
 */
export function createSessionOrder(): SessionOrder {
  const newest = new Map<string, Times>();
  return (session, said) => {
    const last = newest.get(session);
    // What goes back in time is a place of its own: it does not wait for what came before it here.
    const follows = last !== undefined && said >= last.said;
    const kept = follows ? Math.max(said, last.kept + 1) : said;
    // The last one set is the last in the order of the map.
    newest.delete(session);
    newest.set(session, { said, kept });
    if (newest.size > SESSIONS) newest.delete(newest.keys().next().value ?? "");
    return kept;
  };
}
