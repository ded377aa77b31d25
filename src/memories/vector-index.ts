/**
 * How the index of vectors (IVF_FLAT) is laid out. Measured with 100,000 memories against comparing
 * all: 64 parts of which 20 are searched find 99.5 % of the ten nearest, in two thirds of the time
 * of the library's own 26 parts; finer parts build slowly and find less.
 */
const ROWS_OF_A_PART = 1_600;
const LEAST_SEARCHED = 20;
const SHARE_SEARCHED = 0.3;

/** Parts of an index over so many rows. */
export function partitionsFor(rows: number): number {
  return Math.max(1, Math.round(rows / ROWS_OF_A_PART));
}

/** How many of its parts a search looks into. */
export function partitionsToSearch(rows: number): number {
  return Math.max(LEAST_SEARCHED, Math.ceil(partitionsFor(rows) * SHARE_SEARCHED));
}
