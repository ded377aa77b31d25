import type { Stats } from "../memories/stats.ts";

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
