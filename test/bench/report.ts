import { BUDGETS, type Budget, keeps, type Line, type Unit } from "./budgets.ts";
import type { Chart } from "./chart.ts";
import { percentile } from "./numbers.ts";
import type { Growth, Outcome } from "./outcome.ts";

/** The lines side by side with their floors and budgets, as text. */
export function printLines(lines: readonly Line[]): string {
  const rows = lines.map((line) => {
    const budget: Budget = BUDGETS[line.name];
    const bound = budget.bound(line.floor ?? 0, line.memories);
    const sign = budget.must === "at most" ? "≤" : "≥";
    return [
      line.memories.toLocaleString("en"),
      budget.title,
      line.floor === null ? "" : number(line.floor, budget.unit),
      number(line.figure, budget.unit),
      line.floor === null ? "" : (line.figure / line.floor).toFixed(2),
      bound === null ? "none" : `${sign} ${number(bound, budget.unit)}`,
      { true: "ok", false: "MISS", null: "" }[`${keeps(line)}`],
      also(line),
    ];
  });
  const head = ["memories", "what", "floor", "figure", "ratio", "budget", "", "beside it"];
  return columns([head, ...rows]);
}

/** Search latency over the number of memories. */
export function growthChart(growth: readonly Growth[]): Chart {
  const row = (label: string, value: (step: Growth) => number) => ({
    label,
    points: growth.map((step) => [step.memories, value(step)] as const),
    as: "line" as const,
  });
  return {
    title: "Search over HTTP, on a quiet server",
    xLabel: "memories in the account",
    yLabel: "ms",
    series: [
      row("search, p95", ({ searchP95 }) => searchP95),
      row("search, p50", ({ searchP50 }) => searchP50),
      row("floor, p50", ({ floorP50 }) => floorP50),
    ],
  };
}

/** Search latency over time while memories are written. */
export function writesChart({ memories, moments, quiet }: Outcome["besideWrites"][number]): Chart {
  const points = moments.map(({ at, ms }) => [at / 1_000, ms] as const);
  const end = points.at(-1)?.[0] ?? 0;
  const medians = Array.from({ length: Math.floor(end) }, (_, second) => {
    const within = points.filter(([at]) => at >= second && at < second + 1);
    return [
      second + 0.5,
      percentile(
        within.map(([, ms]) => ms),
        0.5,
      ),
    ] as const;
  }).filter(([, ms]) => !Number.isNaN(ms));
  return {
    title: `Search beside 20 writes a second, ${memories.toLocaleString("en")} memories`,
    xLabel: "seconds since the first write",
    yLabel: "ms",
    series: [
      { label: "each search", points, as: "dots" },
      { label: "median of a second", points: medians, as: "line" },
      {
        label: "median when quiet",
        points: [
          [0, quiet],
          [end, quiet],
        ],
        as: "line",
      },
    ],
  };
}

function number(value: number, unit: Unit): string {
  return `${value.toFixed(unit === "ms" && value < 100 ? 1 : 0)} ${unit}`.trimEnd();
}

function also({ also = {} }: Line): string {
  return Object.entries(also)
    .map(([name, value]) => `${name} ${value.toFixed(1)}`)
    .join(", ");
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const isText = (column: number) => column === 1 || column > 5;
  return rows
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return isText(column) ? cell.padEnd(width) : cell.padStart(width);
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
