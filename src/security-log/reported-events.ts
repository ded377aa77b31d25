/** Looks for which an event may come late: a command's transaction takes no longer. */
const LOOKS_BACK = 5;

/**
 * Which events were told. Of a database that several processes write to at once, one with a lower
 * number may be seen later than one with a higher number: for some looks they are looked for again.
 * @param newest no event up to this one is to be told
 */
export function createReportedEvents(newest: number) {
  const lastLooks: number[] = [newest];
  const ids = new Set<number>();
  return {
    /** Those after this event are to be looked for. */
    before: (): number => lastLooks[0] ?? 0,
    /** Notes an event. False for one that was noted before. */
    add: (id: number): boolean => !ids.has(id) && ids.add(id) !== undefined,
    moveOn(newest: number): void {
      lastLooks.push(newest);
      if (lastLooks.length > LOOKS_BACK) lastLooks.shift();
      for (const id of ids) if (id <= this.before()) ids.delete(id);
    },
  };
}
