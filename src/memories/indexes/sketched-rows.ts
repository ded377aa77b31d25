import { createSketches, type Estimates, type Scaled, type Sketches } from "./sketches.ts";

/** Rows from which sketches save time, and rows that are sketched for each row that is written. */
const SKETCHED = { from: 40_000, atOnce: 8 };
/** The longest vectors for whose tables there is room at `TABLES`. */
const MAX_LENGTH = 4_096;
/** Rows whose mean is the centre of the sketches. */
const SAMPLE = 500;

/** The sketches of an index's rows, if there are many rows. */
interface SketchedRows {
  /** Bytes of memory. */
  readonly bytes: number;
  /** Takes in a row that was written. `count` is the number of all rows. */
  put(row: number, count: number): void;
  /** The estimated products of all rows with a query; null if some have no sketch. */
  estimate(query: Float32Array, count: number): Estimates | null;
  close(): void;
}

/**
 * Creates the sketches once there are many rows, and then sketches a few rows at a time, so that no write takes long.
 * @param length of the vectors, a multiple of 32
 * @param vectorAt the vector of a row
 */
export function createSketchedRows(
  length: number,
  vectorAt: (row: number) => Scaled,
): SketchedRows {
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

    put(row, count) {
      if (count < SKETCHED.from || length > MAX_LENGTH) return;
      sketches ??= createSketches(length, centre(count), vectorAt);
      if (row < sketches.count) sketches.put(row);
      const end = Math.min(count, sketches.count + SKETCHED.atOnce);
      for (let next = sketches.count; next < end; next++) sketches.put(next);
    },

    estimate: (query, count) => (sketches?.count === count ? sketches.estimate(query) : null),

    close() {
      sketches?.close();
      sketches = null;
    },
  };
}
