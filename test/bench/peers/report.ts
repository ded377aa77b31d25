import type { Bars } from "../bars.ts";
import type { Figures } from "./measure.ts";

/** What is reported: each figure's title and unit, and whether it is part of the picture. */
const COLUMNS: readonly {
  title: string;
  unit: string;
  isDrawn: boolean;
  of(figures: Figures): number | null;
}[] = [
  { title: "search, p50", unit: "ms", isDrawn: true, of: ({ searchP50 }) => searchP50 },
  { title: "p95", unit: "ms", isDrawn: false, of: ({ searchP95 }) => searchP95 },
  { title: "one save", unit: "ms", isDrawn: true, of: ({ saveP50 }) => saveP50 },
  { title: "bulk load", unit: "/s", isDrawn: false, of: ({ load }) => load },
  { title: "memory", unit: "MiB", isDrawn: true, of: ({ memory }) => memory },
  { title: "disk", unit: "MiB", isDrawn: false, of: ({ disk }) => disk },
  { title: "start", unit: "ms", isDrawn: true, of: ({ start }) => start },
];

/** The figures of one size as a table in Markdown. */
export function peersTable(figures: readonly Figures[]): string {
  const titles = COLUMNS.map(({ title, unit }) => `${title} (${unit})`);
  const head = ["program", ...titles, "searches by; a save; accounts"];
  const line = ["---", ...COLUMNS.map(() => "--:"), "---"];
  const rows = figures.map((each) => [
    each.name,
    ...COLUMNS.map(({ of }) => textOf(of(each))),
    each.scope,
  ]);
  return [head, line, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** The figures of one size as a picture. */
export function peersBars(figures: readonly Figures[]): Bars {
  const columns = COLUMNS.filter(({ isDrawn }) => isDrawn);
  const memories = figures[0]?.memories.toLocaleString("en");
  return {
    title: `ctxd and others with ${memories} memories: less is better`,
    columns: columns.map(({ title }) => title),
    rows: figures.map((each) => ({
      label: each.name,
      isOurs: each.name === "ctxd",
      cells: columns.map(({ unit, of }) => ({
        value: of(each) ?? 0,
        text: `${textOf(of(each))} ${unit}`,
      })),
    })),
  };
}

/** Empty where nothing is, or nothing is known. */
function textOf(value: number | null): string {
  return value ? value.toFixed(value < 100 ? 1 : 0) : "";
}
