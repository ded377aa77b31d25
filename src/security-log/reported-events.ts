/** Rounds in which an event may still appear late. A command's transaction is shorter. */
const LOOKS_BACK = 5;

/**
 * Remembers the events that the log has. When several processes write to a database, an event with a
 * lower number may appear after one with a higher number, so that each round reads the last few again.
 * @param newest events up to this one are not reported
 */
export function createReportedEvents(newest: number) {
  const lastLooks: number[] = [newest];
  const ids = new Set<number>();
  return {
    /** Events after this one are read again. */
    before: (): number => lastLooks[0] ?? 0,
    /** Adds an event. Returns false if it was added before. */
    add: (id: number): boolean => !ids.has(id) && ids.add(id) !== undefined,
    moveOn(newest: number): void {
      lastLooks.push(newest);
      if (lastLooks.length > LOOKS_BACK) lastLooks.shift();
      for (const id of ids) if (id <= this.before()) ids.delete(id);
    },
  };
}
