import type { Stats } from "../../memories/rules/stats.ts";

/** The number of memories whose retention is in a range. */
interface RetentionBand {
  label: string;
  memories: number;
}

const BANDS = [
  { label: "Over 75 %", from: 0.75 },
  { label: "50 to 75 %", from: 0.5 },
  { label: "25 to 50 %", from: 0.25 },
  { label: "Under 25 %", from: 0 },
];

/** Counts memories by their retention. */
export function retentionBands({ fading }: Pick<Stats, "fading">): RetentionBand[] {
  const counts = BANDS.map(({ label }) => ({ label, memories: 0 }));
  for (const { retention, memories } of fading) {
    const index = BANDS.findIndex(({ from }) => retention >= from);
    const band = counts[index];
    if (band) band.memories += memories;
  }
  return counts;
}
