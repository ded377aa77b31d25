/** What a line of the report compares: milliseconds, texts a second, bytes, or a number of things. */
export type Unit = "ms" | "/s" | "MiB" | "";

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

/** A bound that holds up to so many memories. */
const upTo = (most: number, bound: number, memories: number) => (memories <= most ? bound : null);

/** What is reported without a promise. */
const none = () => null;

/** All budgets (section 8 of the design). They bind this bench, and no test. */
export const BUDGETS = {
  search: {
    title: "search, p50",
    floor: "the query's embedding",
    unit: "ms",
    must: "at most",
    bound: (floor, memories) => (memories <= 10_000 ? 1.5 * floor + 1 : 2 * floor + 2),
  },
  searchBesideWrites: {
    title: "search beside 20 writes a second, p50",
    floor: "search, p50",
    unit: "ms",
    must: "at most",
    bound: (quiet) => 1.2 * quiet,
  },
  searchBesideWritesP95: {
    title: "search beside 20 writes a second, p95",
    floor: "search, p50",
    unit: "ms",
    must: "at most",
    bound: (quiet) => 2.5 * quiet,
  },
  write: {
    title: "one durable write, p50",
    floor: "the text's embedding",
    unit: "ms",
    must: "at most",
    bound: (floor) => floor + 6,
  },
  writeP95: {
    title: "one durable write, p95",
    floor: "the text's embedding, p50",
    unit: "ms",
    must: "at most",
    bound: (floor) => floor + 20,
  },
  bulkWrite: {
    title: "bulk write, batches of 256",
    floor: "the engine alone",
    unit: "/s",
    must: "at least",
    bound: (engine) => 1.7 * engine,
  },
  manyClients: {
    title: "search by 64 clients at once",
    floor: "the engine alone",
    unit: "/s",
    must: "at least",
    bound: (engine, memories) => (memories >= 1_000 ? 0.9 * engine : null),
  },
  start: {
    title: "start to first answer",
    floor: "",
    unit: "ms",
    must: "at most",
    bound: (_, memories) => upTo(10_000, 600, memories),
  },
  firstSearch: {
    title: "first search of a server that is ready",
    floor: "",
    unit: "ms",
    must: "at most",
    bound: (_, memories) => upTo(100_000, memories <= 10_000 ? 300 : 600, memories),
  },
  inMemory: {
    title: "from then on to answers from memory",
    floor: "",
    unit: "ms",
    must: "at most",
    bound: (_, memories) => upTo(100_000, 5_000, memories),
  },
  idleMemory: {
    title: "memory when idle (RssAnon)",
    floor: "",
    unit: "MiB",
    must: "at most",
    bound: (_, memories) => {
      if (memories <= 1_000) return 200;
      return memories <= 10_000 ? 290 : upTo(100_000, 480, memories);
    },
  },
  disk: {
    title: "disk after upkeep",
    floor: "text, vectors and states",
    unit: "MiB",
    must: "at most",
    bound: (data) => 1.3 * data + 10,
  },
  fragments: { title: "data files of LanceDB", floor: "", unit: "", must: "at most", bound: none },
  versions: { title: "versions of LanceDB", floor: "", unit: "", must: "at most", bound: none },
  executable: {
    title: "executable",
    floor: "",
    unit: "MiB",
    must: "at most",
    bound: () => 200,
  },
  largeSearch: {
    title: "search in process, stand-in engine, p50",
    floor: "",
    unit: "ms",
    must: "at most",
    bound: () => 40,
  },
  largeMemory: {
    title: "memory of that process (RssAnon)",
    floor: "",
    unit: "MiB",
    must: "at most",
    bound: () => 1.2 * 1_024,
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
