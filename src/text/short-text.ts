const DATE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** The date of a moment in UTC, such as `21 Nov 2026`. */
export function formatDate(instant: string): string {
  return DATE.format(new Date(instant));
}

/** The first line of a text as a title, at most 80 characters. */
export function titleOf(content: string): string {
  const line = content.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length <= 80 ? line : excerpt(line, 79);
}

/** The beginning of a text, followed by `…`. Never ends within a character. */
export function excerpt(content: string, length: number): string {
  const start = content.slice(0, Math.max(0, length - 1));
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}
