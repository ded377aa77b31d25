import { type Accepts, largest } from "./largest.ts";
import { createSketches, type Estimates, type Scaled, type Sketches } from "./sketches.ts";

/** Standard errors by which an estimate may be too low without its row being missed. */
const CERTAIN = 2.5;
/** About so many rows with the largest estimates, for each one wanted, show how large the wanted products are. */
const FIRST = 8;
/** Every so many rows, one is read to learn how the estimates are distributed. */
const STEP = 16;
/** Share of all rows from which it is faster to compute every product. */
const TOO_MANY = 1 / 8;

interface Wanted {
  /** How many rows there are. */
  length: number;
  /** How many of them are wanted. */
  count: number;
  accepts: Accepts;
}

/**
 * The rows with the largest products, the largest first, as `largest` finds them, but with few products: only rows whose
 * estimates are near the largest ones. At the end of a result, one row in some thousands may be missed.
 * @param productsOf computes the products of some rows
 * @returns null if too many rows would be computed
 */
export function largestEstimated(
  estimates: Estimates,
  { length, count, accepts }: Wanted,
  productsOf: (rows: readonly number[]) => Float32Array,
): number[] | null {
  const most = TOO_MANY * length;
  const high = leastOfLargest(estimates, { length, count: FIRST * count, accepts });
  const first = estimates.between(high, Number.POSITIVE_INFINITY, accepts, most);
  if (first === null) return null;
  const products = productsOf(first);
  // At least the wanted number of products are as large.
  const least = products.toSorted()[products.length - count] ?? Number.NEGATIVE_INFINITY;
  const low = Math.min(high, least - CERTAIN * estimates.error);
  const further = estimates.between(low, high, accepts, most - first.length);
  if (further === null) return null;
  const rows = [...first, ...further];
  const all = new Float32Array(rows.length);
  all.set(products);
  all.set(productsOf(further), first.length);
  return largest(all, rows.length, count, null).map((place) => rows[place] ?? 0);
}

/**
 * The accepted rows whose products are at least `least`, in no order, except for about one in a hundred of those whose
 * products are near it.
 * @returns null if too many rows would be computed
 */
export function estimatedFrom(
  estimates: Estimates,
  { length, least, accepts }: Pick<Wanted, "length" | "accepts"> & { least: number },
): number[] | null {
  const low = least - CERTAIN * estimates.error;
  return estimates.between(low, Number.POSITIVE_INFINITY, accepts, TOO_MANY * length);
}

/** The least of about the `count` largest estimates, from a sample. Without so many, it is below all. */
function leastOfLargest(estimates: Estimates, { length, count, accepts }: Wanted): number {
  const sample = new Float32Array(Math.floor(length / STEP));
  for (let nth = 0; nth < sample.length; nth++) sample[nth] = estimates.of(nth * STEP);
  const wanted = Math.ceil(count / STEP);
  const found = largest(sample, sample.length, wanted, accepts && ((nth) => accepts(nth * STEP)));
  const last = found[wanted - 1];
  return last === undefined ? Number.NEGATIVE_INFINITY : (sample[last] ?? 0);
}

/** Rows from which sketches save time, and rows that are sketched for each row that is written. */
const SKETCHED = { from: 40_000, atOnce: 8 };
/** The longest vectors for whose tables there is room at `TABLES`. */
const MAX_LENGTH = 4_096;
/** Rows whose mean is the centre of the sketches. */
const SAMPLE = 500;

/**
 * The sketches of an index's rows. They are created once there are many rows, and then a few rows are sketched at a
 * time, so that no write takes long.
 * @param length of the vectors, a multiple of 32
 * @param vectorAt the vector of a row
 */
export function createSketchedRows(length: number, vectorAt: (row: number) => Scaled) {
  let sketches: Sketches | null = null;

  const centre = (count: number): Float32Array => {
    const mean = new Float32Array(length);
    for (let nth = 0; nth < SAMPLE; nth++) {
      const { numbers, factor } = vectorAt(Math.floor((nth * count) / SAMPLE));
      for (let at = 0; at < length; at++) {
        mean[at] = (mean[at] ?? 0) + ((numbers[at] ?? 0) * factor) / SAMPLE;
      }
    }
    return mean;
  };

  return {
    get bytes() {
      return sketches?.bytes ?? 0;
    },

    /** Takes in a row that was written. `count` is the number of all rows. */
    put(row: number, count: number): void {
      if (count < SKETCHED.from || length > MAX_LENGTH) return;
      sketches ??= createSketches(length, centre(count), vectorAt);
      if (row < sketches.count) sketches.put(row);
      const end = Math.min(count, sketches.count + SKETCHED.atOnce);
      for (let next = sketches.count; next < end; next++) sketches.put(next);
    },

    /** The estimated products of all rows with a query; null if some have no sketch. */
    estimate: (query: Float32Array, count: number) =>
      sketches?.count === count ? sketches.estimate(query) : null,

    close(): void {
      sketches?.close();
      sketches = null;
    },
  };
}
