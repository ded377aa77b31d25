/** The chance for given log-odds, 0 to 1. */
export function chanceOf(logOdds: number): number {
  return 1 / (1 + Math.exp(-logOdds));
}

/** @param least what counts as the least and, from 1 down, the most: 0 and 1 have no log-odds */
export function logOddsOf(chance: number, least = 0): number {
  const within = Math.min(1 - least, Math.max(least, chance));
  return Math.log(within / (1 - within));
}

/** A score as clients receive it. Scores are compared in this form, so that equal ones are equal to clients too. */
export function rounded(score: number): number {
  return Math.round(score * 10_000) / 10_000;
}
