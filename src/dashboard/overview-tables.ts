import type { Stats } from "../memories/stats.ts";

/** Rows of a table of growth at the most: then months take the place of days, and years of months. */
const MOST_ROWS = 40;

/** What was saved in a day, a month or a year. */
export interface Growth {
  period: string;
  added: number;
  total: number;
}

/** How an account grew, the newest period first. */
export function growthOf({ days, memories }: Pick<Stats, "days" | "memories">): Growth[] {
  const lengths = ["2026-11-21".length, "2026-11".length, "2026".length];
  const by = (length: number) => {
    const added = new Map<string, number>();
    for (const { day, memories } of days) {
      const period = day.slice(0, length);
      added.set(period, (added.get(period) ?? 0) + memories);
    }
    return [...added];
  };
  const periods = lengths.map(by).find(({ length }) => length <= MOST_ROWS) ?? by(4);
  let total = memories;
  return periods
    .reverse()
    .slice(0, MOST_ROWS)
    .map(([period, added]) => {
      const row = { period, added, total };
      total -= added;
      return row;
    });
}

/** How many memories are left to a degree. */
export interface Degree {
  label: string;
  memories: number;
}

const DEGREES = [
  { label: "Over 75 %", from: 0.75 },
  { label: "50 to 75 %", from: 0.5 },
  { label: "25 to 50 %", from: 0.25 },
  { label: "Under 25 %", from: 0 },
];

/** How many memories have faded to which degree. */
export function degreesOf({ fading }: Pick<Stats, "fading">): Degree[] {
  const counts = DEGREES.map(({ label }) => ({ label, memories: 0 }));
  for (const { retention, memories } of fading) {
    const place = DEGREES.findIndex(({ from }) => retention >= from);
    const degree = counts[place];
    if (degree) degree.memories += memories;
  }
  return counts;
}
