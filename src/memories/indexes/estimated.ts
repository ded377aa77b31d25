import { type Accepts, largest } from "./largest.ts";
import type { Estimates } from "./sketches.ts";

/** Standard errors by which an estimate may be too low without its row being missed. */
const CERTAIN = 2.5;
/** So many rows with the largest estimates, for each one wanted, show how large the wanted products are. */
const FIRST = 4;
/** Share of all rows from which it is faster to compute every product. */
const TOO_MANY = 1 / 8;

/**
 * The rows with the largest products, the largest first, as `largest` finds them, but with few products: only rows whose
 * estimates are near the largest ones. At the end of a result, one row in some thousands may be missed.
 * @param length how many rows there are
 * @param productOf computes a row's product
 * @returns null if too many rows would be computed
 */
export function largestEstimated(
  { estimates, error }: Estimates,
  { length, count, accepts }: { length: number; count: number; accepts: Accepts },
  productOf: (row: number) => number,
): number[] | null {
  const first = largest(estimates, length, FIRST * count, accepts);
  let bound = Number.NEGATIVE_INFINITY;
  if (first.length === FIRST * count) {
    const products = Float32Array.from(first, productOf).sort();
    const least = products[products.length - count] ?? bound;
    bound = Math.min(least - CERTAIN * error, estimates[first.at(-1) ?? 0] ?? bound);
  }
  const rows: number[] = [];
  for (let row = 0; row < length; row++) {
    if ((estimates[row] ?? 0) < bound || (accepts && !accepts(row))) continue;
    if (rows.push(row) > TOO_MANY * length) return null;
  }
  const products = Float32Array.from(rows, productOf);
  return largest(products, rows.length, count, null).map((place) => rows[place] ?? 0);
}
