const HALF_LIFE_DAYS = { leastImportant: 30, mostImportant: 480 };
const DAY = 86_400_000;

/** The share of its score that a memory loses when it is infinitely old. */
export const DECAY_DEPTH = 0.25;

/**
 * What is left of a memory after `age` milliseconds: 2^(−age / half-life), 1 when it is new. The
 * half-life grows with importance from 30 days at 0 to 480 days at 1, exponentially between. A
 * score keeps 1 − DECAY_DEPTH + DECAY_DEPTH · retention of itself:
 *
 * | importance | half-life | after a week | 30 days | 120 days | a year | 3 years |
 * |------------|-----------|--------------|---------|----------|--------|---------|
 * | 0          | 30 days   | 96 %         | 88 %    | 77 %     | 75 %   | 75 %    |
 * | 0.5        | 120 days  | 99 %         | 96 %    | 88 %     | 78 %   | 75 %    |
 * | 1          | 480 days  | 100 %        | 99 %    | 96 %     | 90 %   | 80 %    |
 */
export function retention(age: number, importance: number): number {
  const { leastImportant, mostImportant } = HALF_LIFE_DAYS;
  const halfLife = leastImportant * (mostImportant / leastImportant) ** importance * DAY;
  // A clock that was set back makes ages negative: such a memory is new.
  return 2 ** (-Math.max(0, age) / halfLife);
}
