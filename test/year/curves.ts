import type { Chart, Series } from "../bench/chart.ts";
import { isRight, type Month } from "./measure.ts";
import type { KINDS } from "./questions.ts";

/** One figure of each month, by its name. */
export interface Curve {
  name: string;
  /** Whether more is worse. */
  isBad: boolean;
  of: (month: Month) => number;
}

const FIRSTS = ["right", "stale", "marked", "other", "nothing"] as const;
const share = (part: number, whole: number) => (whole === 0 ? Number.NaN : part / whole);

/** The share of the questions of some kinds with such a first result. */
function firsts(
  { kinds }: Month,
  wanted: readonly (typeof KINDS)[number][],
  isCounted: (kind: (typeof KINDS)[number], first: (typeof FIRSTS)[number]) => boolean,
): number {
  let [part, whole] = [0, 0];
  for (const kind of wanted) {
    whole += kinds[kind].questions;
    for (const first of FIRSTS) if (isCounted(kind, first)) part += kinds[kind][first];
  }
  return share(part, whole);
}

const HOLDING = ["known", "changed"] as const;

export const CURVES: readonly Curve[] = [
  { name: "right first", isBad: false, of: (month) => firsts(month, HOLDING, isRight) },
  {
    name: "right among five",
    isBad: false,
    of: ({ kinds }) =>
      share(
        kinds.known.found + kinds.changed.found,
        kinds.known.questions + kinds.changed.questions,
      ),
  },
  {
    name: "stale first, unmarked",
    isBad: true,
    of: (month) =>
      firsts(month, ["changed", "outlived", "withdrawn"], (_, first) => first === "stale"),
  },
  {
    name: "outdated ones marked",
    isBad: false,
    of: ({ outdated, marked }) => share(marked, outdated),
  },
  {
    name: "true ones marked",
    isBad: true,
    of: ({ holding, wronglyMarked }) => share(wronglyMarked, holding),
  },
  {
    name: "nothing, though known",
    isBad: true,
    of: (month) => firsts(month, HOLDING, (_, first) => first === "nothing"),
  },
  {
    name: "nothing, as never said",
    isBad: false,
    of: (month) => firsts(month, ["unsaid"], isRight),
  },
  {
    name: "withdrawn, and says so or nothing",
    isBad: false,
    of: (month) => firsts(month, ["withdrawn"], isRight),
  },
  {
    name: "outlived, and says nothing",
    isBad: false,
    of: (month) => firsts(month, ["outlived"], isRight),
  },
  { name: "begin: stale lines", isBad: true, of: ({ begin }) => share(begin.stale, begin.lines) },
  {
    name: "begin: repeated lines",
    isBad: true,
    of: ({ begin }) => share(begin.repeated, begin.lines),
  },
  {
    name: "begin: lines without a fact",
    isBad: true,
    of: ({ begin }) => share(begin.unrelated, begin.lines),
  },
  {
    name: "begin: preferences that came",
    isBad: false,
    of: ({ begin }) => share(begin.came, begin.wanted),
  },
  { name: "begin: tokens", isBad: true, of: ({ begin }) => share(begin.tokens, begin.texts) },
  {
    name: "prompt: stale lines",
    isBad: true,
    of: ({ prompt }) => share(prompt.stale, prompt.lines),
  },
  {
    name: "prompt: repeated lines",
    isBad: true,
    of: ({ prompt }) => share(prompt.repeated, prompt.lines),
  },
  {
    name: "prompt: unrelated lines",
    isBad: true,
    of: ({ prompt }) => share(prompt.unrelated, prompt.lines),
  },
  {
    name: "prompt: facts that came",
    isBad: false,
    of: ({ prompt }) => share(prompt.came, prompt.wanted),
  },
  { name: "prompt: tokens", isBad: true, of: ({ prompt }) => share(prompt.tokens, prompt.texts) },
  { name: "memories", isBad: true, of: ({ memories }) => memories },
  { name: "megabytes on disk", isBad: true, of: ({ bytes }) => bytes / 1e6 },
  { name: "search p50 (ms)", isBad: true, of: ({ p50 }) => p50 },
  { name: "search p95 (ms)", isBad: true, of: ({ p95 }) => p95 },
  { name: "secrets shown", isBad: true, of: ({ leaked }) => leaked },
];

/** The month in which a curve is worst, from 1. */
export function worstMonth({ of, isBad }: Curve, months: readonly Month[]): number {
  const values = months.map((month) => (isBad ? of(month) : -of(month)));
  const worst = Math.max(...values.filter((value) => !Number.isNaN(value)));
  return values.indexOf(worst) + 1;
}

/** All curves of all months as a table in Markdown. */
export function tableOf(months: readonly Month[]): string {
  const cells = (row: readonly string[]) => `| ${row.join(" | ")} |`;
  const show = (value: number) =>
    Number.isNaN(value) ? "–" : value >= 100 ? value.toFixed(0) : value.toFixed(value < 1 ? 3 : 1);
  return [
    cells(["month", ...months.map(({ month }) => `${month}`), "worst"]),
    cells(["---", ...months.map(() => "---:"), "---:"]),
    ...CURVES.map((curve) =>
      cells([
        curve.name,
        ...months.map((month) => show(curve.of(month))),
        `${worstMonth(curve, months)}`,
      ]),
    ),
  ].join("\n");
}

/** The curves of each picture, with labels that fit beside each other. */
const DRAWN: Record<string, readonly (readonly [name: string, label: string])[]> = {
  "A year: answers": [
    ["right first", "right first"],
    ["right among five", "right among five"],
    ["stale first, unmarked", "stale first"],
    ["true ones marked", "true but marked"],
  ],
  "A year: where nothing holds": [
    ["nothing, as never said", "never said"],
    ["withdrawn, and says so or nothing", "withdrawn"],
    ["outlived, and says nothing", "outlived"],
    ["nothing, though known", "nothing but known"],
  ],
  "A year: recall for prompts": [
    ["prompt: facts that came", "facts that came"],
    ["prompt: unrelated lines", "unrelated lines"],
    ["prompt: stale lines", "stale lines"],
    ["prompt: repeated lines", "repeated"],
  ],
  "A year: recall at beginnings": [
    ["begin: preferences that came", "what should come"],
    ["begin: lines without a fact", "without a fact"],
    ["begin: stale lines", "stale lines"],
    ["begin: repeated lines", "repeated"],
  ],
};

/** The curves that are shares, in groups that one picture holds. */
export function chartsOf(months: readonly Month[]): Chart[] {
  return Object.entries(DRAWN).map(([title, names]) => ({
    title,
    xLabel: "month",
    yLabel: "share",
    series: names.flatMap(([name, label]): Series[] => {
      const curve = CURVES.find((one) => one.name === name);
      const points = months.flatMap((month): (readonly [number, number])[] => {
        const value = curve?.of(month) ?? Number.NaN;
        return Number.isNaN(value) ? [] : [[month.month, value]];
      });
      return [{ label, points, as: "line" }];
    }),
  }));
}
