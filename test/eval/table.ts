/** A figure with what is asked of it. */
export interface Figure {
  /** What is measured, and on what. */
  group: string;
  name: string;
  value: number;
  /** What it must come to, and what would be good. */
  least?: number | undefined;
  aim?: number | undefined;
}

/** Figures that round to what is asked are as good. */
const ROUNDING = 0.0005;

export function isMissed({ value, least }: Figure): boolean {
  return least !== undefined && value < least - ROUNDING;
}

/** Figures as a table for people: ok, MISS, or ★ for those that reach their aim. */
export function formatFigures(figures: readonly Figure[]): string {
  const head = ["", "", "measured", "at least", "aim", ""];
  const rows = figures.map((figure, at) => [
    figure.group === figures[at - 1]?.group ? "" : figure.group,
    figure.name,
    format(figure.value),
    format(figure.least),
    format(figure.aim),
    verdict(figure),
  ]);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  return [head, ...rows]
    .map((row) =>
      row
        .map((cell, column) =>
          column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
        )
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function verdict(figure: Figure): string {
  if (figure.least === undefined) return "";
  if (isMissed(figure)) return "MISS";
  return figure.aim !== undefined && figure.value >= figure.aim - ROUNDING ? "★" : "ok";
}

function format(value: number | undefined): string {
  return value === undefined ? "" : value.toFixed(3).replace(/^0/, "");
}
