/** What a line of the report compares: milliseconds, texts a second, bytes. */
export type Unit = "ms" | "/s" | "MiB";

/** One promise of the design: a bound that a figure must keep, made from its floor. */
export interface Budget {
  readonly title: string;
  /** What the floor is. */
  readonly floor: string;
  readonly unit: Unit;
  /** The bound for so many memories, `null` where nothing is promised. */
  bound(floor: number, memories: number): number | null;
  /** Whether the figure must not be more or not be less than the bound. */
  readonly must: "at most" | "at least";
}

/** A bound that holds up to 10,000 memories. */
const upTo10k = (bound: number, memories: number) => (memories <= 10_000 ? bound : null);

/** All budgets (section 8 of the design). They bind this bench, and no test. */
export const BUDGETS = {
  search: {
    title: "search",
    floor: "the query's embedding",
    unit: "ms",
    must: "at most",
    bound: (floor, memories) => (memories <= 10_000 ? 2 * floor + 2 : 2.5 * floor + 4),
  },
  searchBesideWrites: {
    title: "search beside 20 writes a second",
    floor: "search",
    unit: "ms",
    must: "at most",
    bound: (quiet) => 1.5 * quiet,
  },
  write: {
    title: "one durable write",
    floor: "the text's embedding",
    unit: "ms",
    must: "at most",
    bound: (floor) => floor + 15,
  },
  bulkWrite: {
    title: "bulk write, batches of 256",
    floor: "the engine alone",
    unit: "/s",
    must: "at least",
    bound: (engine) => 0.85 * engine,
  },
  manyClients: {
    title: "search by 64 clients at once",
    floor: "the engine alone",
    unit: "/s",
    must: "at least",
    bound: (engine) => 0.9 * engine,
  },
  start: {
    title: "start to first answer",
    floor: "",
    unit: "ms",
    must: "at most",
    bound: (_, memories) => upTo10k(800, memories),
  },
  idleMemory: {
    title: "memory when idle (RssAnon)",
    floor: "",
    unit: "MiB",
    must: "at most",
    bound: (_, memories) => upTo10k(250, memories),
  },
  disk: {
    title: "disk after upkeep",
    floor: "text and vectors",
    unit: "MiB",
    must: "at most",
    bound: (data) => 1.5 * data + 20,
  },
  executable: {
    title: "executable",
    floor: "",
    unit: "MiB",
    must: "at most",
    bound: () => 200,
  },
} as const satisfies Record<string, Budget>;

export type BudgetName = keyof typeof BUDGETS;

/** A measured figure beside its floor; both are medians unless the unit says otherwise. */
export interface Line {
  readonly name: BudgetName;
  readonly memories: number;
  /** `null` for a figure that is compared with a fixed bound. */
  readonly floor: number | null;
  readonly figure: number;
  /** What was seen beside it and has no budget. */
  readonly also?: Readonly<Record<string, number>>;
}

/** Whether a figure keeps its budget; `null` where there is none. */
export function keeps({ name, memories, floor, figure }: Line): boolean | null {
  const budget: Budget = BUDGETS[name];
  const bound = budget.bound(floor ?? 0, memories);
  if (bound === null) return null;
  return budget.must === "at most" ? figure <= bound : figure >= bound;
}
