import type { BaseRecords, Contents } from "../../src/memories/log/shared-log.ts";

/** What a database would know of bases, in memory. */
export function createTestRecords() {
  const states = new Map<string, "begun" | "recorded" | "condemned">();
  const described = new Map<string, Contents>();
  const condemn = (base: string) => {
    if (states.has(base)) states.set(base, "condemned");
  };

  const records: BaseRecords = {
    async begin(base) {
      if (states.get(base) === "condemned") throw new Error(`${base} is to be removed`);
      if (!states.has(base)) states.set(base, "begun");
    },
    async describe(base, contents) {
      described.set(base, { ...described.get(base), ...contents });
    },
    contents: async (base) => described.get(base) ?? {},
    async wanted(bases) {
      return new Set(bases.filter((base) => (states.get(base) ?? "condemned") !== "condemned"));
    },
    ours: async (bases) => new Set(bases),
    async condemn(bases) {
      const unwanted = bases.filter((base) => states.get(base) !== "recorded");
      for (const base of unwanted) condemn(base);
      return unwanted;
    },
    async condemned() {
      return [...states].filter(([, state]) => state === "condemned").map(([base]) => base);
    },
    async gone(bases) {
      for (const base of bases) states.delete(base);
    },
  };

  return {
    ...records,
    /**
     * As recording a checkpoint does.
     * @throws when the base is to be removed
     */
    record(base: string, former?: string) {
      if (states.get(base) !== "begun") throw new Error(`${base} is not being written`);
      states.set(base, "recorded");
      if (former !== undefined) condemn(former);
    },
    /** As the end of a lease does to what was begun under it. */
    loseLease() {
      for (const [base, state] of states) if (state === "begun") condemn(base);
    },
    recorded: () => [...states.keys()],
  };
}
