import type { Stats } from "../../memories/rules/stats.ts";

const DAY = 86_400_000;

/** Periods of the growth chart, as the address names them. */
export const SPANS = ["month", "year", "all"] as const;
export type Span = (typeof SPANS)[number];

const MAX_POINTS = 60;
const MIN_DAYS = 14;

/** A period of days: how many memories were saved in it, and how many there were at its end. */
export interface Growth {
  /** First and last day in UTC, such as `2026-11-21`. */
  from: string;
  to: string;
  added: number;
  total: number;
}

/**
 * The growth of an account up to today, oldest first.
 * @param now milliseconds since 1970
 */
export function growthOf(
  { days, memories }: Pick<Stats, "days" | "memories">,
  span: Span,
  now: number,
): Growth[] {
  const known = days.map(({ day, memories }) => ({ day: dayNumber(day), memories }));
  // After the clock was set back, some memories have dates in the future.
  const today = Math.max(Math.floor(now / DAY), known.at(-1)?.day ?? 0);
  const all = Math.max(MIN_DAYS, today - (known[0]?.day ?? today) + 1);
  const length = { month: 30, year: 364, all }[span];
  const step = Math.ceil(length / MAX_POINTS);
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
    return { from: dayOf(from), to: dayOf(from + step - 1), added: count, total };
  });
}

/** The next round number that can be halved. */
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

function dayOf(day: number): string {
  return new Date(day * DAY).toISOString().slice(0, 10);
}
