/** The most sessions whose newest time is kept: turns of a session come together. */
const MAX_SESSIONS = 10_000;

/** The time of a turn, and the time that its memory gets. */
interface Times {
  original: number;
  adjusted: number;
}

/** @returns the time to save, in milliseconds since 1970 */
export type SessionOrder = (session: string, time: number) => number;

/**
 * Keeps the turns of a session in the order in which they come: turns with the same time get times a
 * millisecond apart, since lists and the ranking order turns by their times alone.
 */
export function createSessionOrder(): SessionOrder {
  const newest = new Map<string, Times>();
  return (session, time) => {
    const last = newest.get(session);
    // A turn that goes back in time does not follow the turn before it.
    const follows = last !== undefined && time >= last.original;
    const adjusted = follows ? Math.max(time, last.adjusted + 1) : time;
    // Deleted first: a map keeps the order of insertion.
    newest.delete(session);
    newest.set(session, { original: time, adjusted });
    if (newest.size > MAX_SESSIONS) newest.delete(newest.keys().next().value ?? "");
    return adjusted;
  };
}
