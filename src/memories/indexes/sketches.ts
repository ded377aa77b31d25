import type { Accepts } from "./largest.ts";
import {
  BLOCK,
  estimate,
  LISTS,
  releaseBlocks,
  select,
  TABLES,
  takeBlock,
  views,
} from "./wasm-memory.ts";

/** The estimated product of each row with a query. The next question overwrites them. */
export type Estimates = ReturnType<Sketches["estimate"]>;
export type Sketches = ReturnType<typeof createSketches>;

/** A vector: whole numbers, and the factor by which they are multiplied. */
export interface Scaled {
  numbers: Int8Array;
  factor: number;
}

/** Rows whose signs lie together. */
const GROUP = 16;
/** Bytes of a row beside its signs: a factor, a summand and an estimate. */
const NUMBERS = 12;
/** The largest number in a table: four of them fit into a byte. */
const MAX_SUM = 63;
/** Numbers of a query in one table. */
const QUAD = 4;

/**
 * Sketches of vectors: one bit for each number, its sign relative to a centre. The processor reads them in a fifth of the
 * time that the vectors take. An estimated product is off by about 0.02, so the largest products are computed from the
 * vectors afterwards. The estimate is RaBitQ's (Gao and Long, 2024), from tables for four numbers at once.
 * @param length of the vectors, a multiple of 32
 * @param centre about the mean of the vectors, of the same length
 * @param vectorAt the vector of a row
 */
export function createSketches(
  length: number,
  centre: Float32Array,
  vectorAt: (row: number) => Scaled,
) {
  const width = length / 8;
  const perBlock = Math.floor(BLOCK / (width + NUMBERS) / GROUP) * GROUP;
  const gap = 4 * perBlock;
  const blocks: number[] = [];
  let count = 0;
  /** Of all sketches that were written. */
  let [errors, written] = [0, 0];

  /** Estimates lie behind the other numbers of a block. */
  const estimatesIn = (block: number) => block + perBlock * width + 2 * gap;
  const estimateOf = (row: number) => {
    const block = blocks[Math.floor(row / perBlock)] ?? 0;
    return views.floats[estimatesIn(block) / 4 + (row % perBlock)] ?? 0;
  };

  /**
   * The rows whose estimates are at least `low` and less than `high`, in order; null if there are more than `most`.
   * @param accepts whether a row counts
   */
  const between = (low: number, high: number, accepts: Accepts, most: number) => {
    const rows: number[] = [];
    for (const [number, block] of blocks.entries()) {
      const first = number * perBlock;
      const at = estimatesIn(block);
      const end = at + 4 * Math.min(perBlock, count - first);
      const found = select(at, end, low, high, first, LISTS);
      for (let place = LISTS / 4; place < found / 4; place++) {
        const row = views.int32[place] ?? 0;
        if (row < count && (accepts === null || accepts(row))) rows.push(row);
      }
      if (rows.length > most) return null;
    }
    return rows;
  };

  return {
    get bytes() {
      return blocks.length * BLOCK;
    },

    /** How many rows have a sketch. */
    get count() {
      return count;
    },

    /** Writes the sketch of a row, which is at most the number of rows so far. */
    put(row: number): void {
      // A new block may move the memory, and the vectors in it: so they are read afterwards.
      if (row === blocks.length * perBlock) blocks.push(takeBlock());
      const { numbers: vector, factor } = vectorAt(row);
      count = Math.max(count, row + 1);
      const block = blocks[Math.floor(row / perBlock)] ?? 0;
      const place = row % perBlock;
      const inGroup = place % GROUP;
      const signs = block + (place - inGroup) * width + inGroup;
      const { bytes, floats } = views;
      let [sum, squares, along] = [0, 0, 0];
      for (let byte = 0; byte < width; byte++) {
        let eight = 0;
        for (let bit = 0; bit < 8; bit++) {
          const middle = centre[8 * byte + bit] ?? 0;
          const number = (vector[8 * byte + bit] ?? 0) * factor - middle;
          // A branch here would take three times as long: signs can't be predicted.
          eight |= Number(number >= 0) << bit;
          sum += Math.abs(number);
          squares += number * number;
          along += number * middle;
        }
        bytes[signs + byte * GROUP] = eight;
      }
      const numbers = (block + perBlock * width) / 4 + place;
      floats[numbers] = sum > 0 ? squares / sum : 0;
      floats[numbers + perBlock] = along;
      // The part of the vector that its signs do not have, spread over all directions.
      errors +=
        Math.sqrt(Math.max(0, (squares * squares * length) / sum ** 2 - squares) / length) || 0;
      written++;
    },

    /** Estimates the product of each row with a query; `error` is the standard error. */
    estimate(query: Float32Array) {
      const { scale, total, base, distance } = fillTables(query, centre, length);
      for (const [number, block] of blocks.entries()) {
        const rows = Math.min(perBlock, count - number * perBlock);
        const end = block + Math.ceil(rows / GROUP) * GROUP * width;
        estimate(TABLES, block, end, width, block + perBlock * width, gap, base, scale, -total);
      }
      return { error: (distance * errors) / (written || 1), of: estimateOf, between };
    },

    close(): void {
      releaseBlocks(blocks.splice(0));
      count = 0;
    },
  };
}

/**
 * Writes the tables of a query at `TABLES`: the sums of four of its numbers, relative to the centre, for all signs that
 * they can have.
 * @returns what a number in a table stands for, the sum of all numbers' sizes, the query's product with the centre,
 * and its distance from the centre
 */
function fillTables(query: Float32Array, centre: Float32Array, length: number) {
  const numbers = new Float32Array(length);
  let [total, base, squares, widest] = [0, 0, 0, 0];
  for (let quad = 0; quad < length; quad += QUAD) {
    let size = 0;
    for (let at = quad; at < quad + QUAD; at++) {
      const [own, middle] = [query[at] ?? 0, centre[at] ?? 0];
      const number = own - middle;
      numbers[at] = number;
      size += Math.abs(number);
      squares += number * number;
      base += own * middle;
    }
    total += size;
    widest = Math.max(widest, size);
  }
  const scale = (2 * widest) / MAX_SUM || 1;
  const sums = new Float64Array(1 << QUAD);
  for (let quad = 0; quad < length; quad += QUAD) {
    const table = TABLES + (quad / QUAD) * GROUP;
    sums[0] = 0;
    for (let at = quad; at < quad + QUAD; at++) {
      sums[0] += Math.abs(numbers[at] ?? 0) - (numbers[at] ?? 0);
    }
    views.bytes[table] = Math.round(sums[0] / scale);
    for (let signs = 1; signs < 1 << QUAD; signs++) {
      // The same signs with one positive number fewer.
      const last = 31 - Math.clz32(signs);
      const sum = (sums[signs ^ (1 << last)] ?? 0) + 2 * (numbers[quad + last] ?? 0);
      sums[signs] = sum;
      views.bytes[table + signs] = Math.round(sum / scale);
    }
  }
  return { scale, total, base, distance: Math.sqrt(squares) };
}
