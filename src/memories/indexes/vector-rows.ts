import { grow } from "./growing-arrays.ts";
import { type Accepts, largest } from "./largest.ts";
import { createSketchedRows, estimatedFrom, largestEstimated } from "./sketched-rows.ts";
import type { Scaled } from "./sketches.ts";
import {
  BLOCK,
  LISTS,
  multiply,
  multiplyListed,
  QUERY,
  releaseBlocks,
  takeBlock,
  views,
} from "./wasm-memory.ts";

/** Rows whose addresses fit into the block for lists. */
const PER_LIST = BLOCK / 4;
/** Numbers that are multiplied in one step. */
const STEP = 32;
/** Bytes of a record after its numbers: a factor, a product, and space to align the next record. */
const TAIL = 16;
/** The largest numbers of records and queries. The sum of 4,096 products fits into 31 bits. */
const MAX_NUMBER = { record: 127, query: 16_383 };
/** The query that is at `QUERY`. A search uses the same vector several times. */
let prepared = { query: null as Float32Array | null, length: 0, factor: 1 };

/**
 * Vectors by row, with one byte for each number. A row may be written again.
 * @param dimension of the vectors
 */
export function createVectorRows(dimension: number) {
  const length = Math.ceil(dimension / STEP) * STEP;
  const size = length + TAIL;
  const perBlock = Math.floor(BLOCK / size);
  const blocks: number[] = [];
  let count = 0;
  let products = new Float32Array(0);
  /** The query whose products with all rows are in `products`; null after a change. */
  let asked: Float32Array | null = null;

  const addressOf = (row: number) =>
    (blocks[Math.floor(row / perBlock)] ?? 0) + (row % perBlock) * size;

  /** A row's whole numbers, and the factor by which they are multiplied. */
  const vectorAt = (row: number): Scaled => {
    const address = addressOf(row);
    const factor = views.floats[(address + length) / 4] ?? 0;
    return { numbers: views.integers.subarray(address, address + length), factor };
  };

  const sketches = createSketchedRows(length, vectorAt);

  /** Multiplies all rows, including free ones. */
  const multiplyAll = (query: Float32Array) => {
    products = grow(products, count);
    let row = 0;
    const { floats } = views;
    for (const block of blocks) {
      const end = block + Math.min(perBlock, count - row) * size;
      multiply(QUERY, block, end, length, size);
      for (let at = (block + length) / 4 + 1; at < end / 4; at += size / 4) {
        products[row++] = floats[at] ?? 0;
      }
    }
    asked = query;
  };

  /** Multiplies some rows. */
  const multiplySome = (chosen: readonly number[]): Float32Array => {
    const found = new Float32Array(chosen.length);
    const { floats, int32 } = views;
    for (let from = 0; from < chosen.length; from += PER_LIST) {
      const end = Math.min(chosen.length, from + PER_LIST);
      for (let at = from; at < end; at++) int32[LISTS / 4 + at - from] = addressOf(chosen[at] ?? 0);
      multiplyListed(QUERY, LISTS, LISTS + 4 * (end - from), length);
      for (let at = from; at < end; at++) found[at] = floats[LISTS / 4 + at - from] ?? 0;
    }
    return found;
  };

  const productsOf = (query: Float32Array, chosen: readonly number[]): Float32Array => {
    const factor = prepare(query, length);
    const found =
      asked === query
        ? Float32Array.from(chosen, (row) => products[row] ?? 0)
        : multiplySome(chosen);
    for (let at = 0; at < found.length; at++) found[at] = (found[at] ?? 0) * factor;
    return found;
  };

  return {
    get bytes() {
      return blocks.length * BLOCK + products.byteLength + sketches.bytes;
    },

    /**
     * Writes the vector of a row, which is at most the number of rows so far.
     * @throws RangeError when there is no memory left
     */
    put(row: number, vector: Float32Array): void {
      if (row === blocks.length * perBlock) blocks.push(takeBlock());
      count = Math.max(count, row + 1);
      const address = addressOf(row);
      // The row may contain data of a removed vector.
      views.integers.fill(0, address, address + length);
      const numbers = views.integers.subarray(address, address + dimension);
      views.floats[(address + length) / 4] = quantizeRecord(vector, numbers);
      asked = null;
      sketches.put(row, count);
    },

    /** A row's vector, computed from its bytes. */
    vector(row: number): Float32Array {
      const { numbers, factor } = vectorAt(row);
      const floats = new Float32Array(dimension);
      for (let at = 0; at < dimension; at++) floats[at] = (numbers[at] ?? 0) * factor;
      return floats;
    },

    /**
     * Returns a function that finds a number of accepted rows with the largest products with a query, the largest
     * first. With many rows, sketches tell which products are computed.
     */
    search(query: Float32Array, accepts: Accepts): (count: number) => number[] {
      prepare(query, length);
      const estimates = sketches.estimate(query, count);
      const ofRows = (chosen: readonly number[]) => productsOf(query, chosen);
      return (wanted) => {
        const options = { length: count, count: wanted, accepts };
        const found = estimates && largestEstimated(estimates, options, ofRows);
        if (found) return found;
        if (asked !== query) multiplyAll(query);
        return largest(products, count, wanted, accepts);
      };
    },

    /** Like `search`, but only rows whose products are larger than `least`, which takes less time. */
    above(query: Float32Array, least: number, wanted: number, accepts: Accepts): number[] {
      const factor = prepare(query, length);
      const estimates = sketches.estimate(query, count);
      const rows = estimates && estimatedFrom(estimates, { length: count, least, accepts });
      if (rows) {
        const found = productsOf(query, rows);
        return largest(found, rows.length, wanted, null, least).map((at) => rows[at] ?? 0);
      }
      if (asked !== query) multiplyAll(query);
      return largest(products, count, wanted, accepts, least / factor);
    },

    /** The products of some rows with a query. */
    products: productsOf,

    close(): void {
      releaseBlocks(blocks.splice(0));
      sketches.close();
      [asked, count] = [null, 0];
    },
  };
}

/**
 * Copies a query to `QUERY`, unless it is there already.
 * @param length of its copy, filled up with zeros
 * @returns its factor
 */
function prepare(query: Float32Array, length: number): number {
  if (prepared.query !== query || prepared.length !== length) {
    const numbers = new Int16Array(views.floats.buffer, QUERY, length).fill(0);
    prepared = { query, length, factor: quantizeQuery(query, numbers) };
  }
  return prepared.factor;
}

/** The factor by which whole numbers up to `most` become the numbers of a vector. */
function factorOf(vector: Float32Array, most: number): number {
  let highest = 0;
  for (let at = 0; at < vector.length; at++) highest = Math.max(highest, Math.abs(vector[at] ?? 0));
  return highest / most || 1;
}

/**
 * Writes a vector as whole numbers. The same loop for arrays of both types would be slower than one for each.
 * @returns the factor to multiply them with
 */
function quantizeRecord(vector: Float32Array, numbers: Int8Array): number {
  const factor = factorOf(vector, MAX_NUMBER.record);
  for (let at = 0; at < vector.length; at++) numbers[at] = Math.round((vector[at] ?? 0) / factor);
  return factor;
}

/** Writes a query as whole numbers; see `quantizeRecord`. */
function quantizeQuery(query: Float32Array, numbers: Int16Array): number {
  const factor = factorOf(query, MAX_NUMBER.query);
  for (let at = 0; at < query.length; at++) numbers[at] = Math.round((query[at] ?? 0) / factor);
  return factor;
}
