/** A day as text, in UTC: `22 Nov`, or `22 Nov 2026` with the year. Empty without a day. */
export function dayText(day: string | undefined, { withYear = false } = {}): string {
  if (day === undefined) return "";
  return new Date(day).toLocaleDateString("en-GB", {
    timeZone: "UTC",
    day: "numeric",
    month: "short",
    ...(withYear && { year: "numeric" }),
  });
}
