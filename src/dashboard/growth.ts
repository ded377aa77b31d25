import type { Stats } from "../memories/stats.ts";

const DAY = 86_400_000;

/** Spans of time that growth is shown of, as the address has them. */
export const SPANS = ["month", "year", "all"] as const;
export type Span = (typeof SPANS)[number];

/** Points of a drawing at the most, and days that it has at the least. */
const MOST_POINTS = 60;
const LEAST_DAYS = 14;

/** Some days, how many memories were saved in them, and how many there were after them. */
export interface Growth {
  /** In UTC, such as `2026-11-21`; the same day where it is one. */
  from: string;
  to: string;
  added: number;
  total: number;
}

/**
 * How an account grew, the oldest days first, up to today.
 * @param now milliseconds since 1970
 */
export function growthOf(
  { days, memories }: Pick<Stats, "days" | "memories">,
  span: Span,
  now: number,
): Growth[] {
  const known = days.map(({ day, memories }) => ({ day: dayNumber(day), memories }));
  // A clock that was set back leaves days to come.
  const today = Math.max(Math.floor(now / DAY), known.at(-1)?.day ?? 0);
  const all = Math.max(LEAST_DAYS, today - (known[0]?.day ?? today) + 1);
  const length = { month: 30, year: 364, all }[span];
  const step = Math.ceil(length / MOST_POINTS);
  const points = Math.ceil(length / step);
  const first = today - points * step + 1;
  const added = new Array<number>(points).fill(0);
  for (const { day, memories } of known) {
    const point = Math.floor((day - first) / step);
    if (point >= 0) added[point] = (added[point] ?? 0) + memories;
  }
  let total = memories - added.reduce((sum, count) => sum + count, 0);
  return added.map((count, point) => {
    total += count;
    const from = first + point * step;
    return { from: dayText(from), to: dayText(from + step - 1), added: count, total };
  });
}

/** A round number that is at least as large, and can be halved. */
export function roundedUp(number: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, number)));
  return (
    [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((times) => times * power).find((each) => each >= number) ??
    number
  );
}

function dayNumber(day: string): number {
  return Date.parse(day) / DAY;
}

function dayText(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}
