/** Formats rows under a heading, in columns two spaces apart. Wide characters count as two. */
export function formatTable(heading: readonly string[], rows: readonly (readonly string[])[]) {
  const lines = [heading, ...rows];
  const widths = heading.map((_, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ""))),
  );
  return lines
    .map((line) =>
      line
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Formats a time for a table, to the minute; a dash for null. */
export function formatMoment(moment: Date | null): string {
  return moment === null ? "-" : `${moment.toISOString().slice(0, 16).replace("T", " ")}Z`;
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - Bun.stringWidth(cell)));
}
