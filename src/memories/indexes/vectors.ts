import { growInts } from "./growing-arrays.ts";
import { type Accepts, largest } from "./largest.ts";
import { BLOCK, multiply, QUERY, releaseBlocks, takeBlock, whole } from "./wasm-memory.ts";

/**
 * Vectors with one byte for each number. A query is compared with all of them, which takes 20 ms for a million vectors
 * of 384 numbers. Each vector has an owner, a small whole number, which may own several. Products are computed
 * from the bytes: for vectors of length 1, they are off by up to 0.001.
 */
export interface VectorIndex {
  /** Bytes of memory that the index takes. */
  readonly bytes: number;
  /**
   * Adds the vectors of an owner that has none.
   * @throws RangeError when there is no memory left; then the index must be closed
   */
  put(owner: number, vectors: readonly Float32Array[]): void;
  /** Removes all vectors of an owner. */
  remove(owner: number): void;
  /**
   * The owners of the `count` vectors with the largest dot products with a query, each once. More vectors are
   * considered while there are fewer than `least` owners.
   * @param accepts called only for owners that would be among them
   */
  nearest(
    query: Float32Array,
    { count, least, accepts }: { count: number; least: number; accepts: Accepts },
  ): Set<number>;
  /** The largest dot product of each owner's vectors with a query, and the number of that vector. */
  products(query: Float32Array, owners: readonly number[]): { product: number; nth: number }[];
  /** The first vector of an owner, computed from its bytes; `null` if there is none. */
  first(owner: number): Float32Array | null;
  /** Releases all memory. */
  close(): void;
}

/** Numbers that are multiplied in one step. */
const STEP = 32;
/** Bytes of a record after its numbers: a factor, a product, and space to align the next record. */
const TAIL = 16;
/** The largest numbers of records and queries. The sum of 4,096 products fits into 31 bits. */
const MOST = { record: 127, query: 16_383 };
/** The array of products grows to this multiple of the needed length. */
const GROWTH = 1.25;
/** If too few owners are found, this factor multiplies the number of vectors considered. */
const MORE = 4;
/** Stands for no row and no owner. */
const NONE = -1;

/** The query that is at `QUERY`. A search uses the same vector several times. */
let prepared = { query: null as Float32Array | null, length: 0, factor: 1 };

/** @param dimension of its vectors */
export function createVectorIndex(dimension: number): VectorIndex {
  const length = Math.ceil(dimension / STEP) * STEP;
  const size = length + TAIL;
  const perBlock = Math.floor(BLOCK / size);
  const blocks: number[] = [];
  /** By row: its owner, and the next row of the same owner. For a free row: the next free row. */
  const rows = { count: 0, free: NONE, owners: new Int32Array(0), next: new Int32Array(0) };
  /** The first row of each owner, plus 1; 0 if it has none. */
  let firsts = new Int32Array(0);
  let products = new Float32Array(0);
  /** The query whose products with all rows are in `products`; null after a change. */
  let asked: Float32Array | null = null;

  const addressOf = (row: number) =>
    (blocks[Math.floor(row / perBlock)] ?? 0) + (row % perBlock) * size;

  const takeRow = (): number => {
    if (rows.free !== NONE) {
      const row = rows.free;
      rows.free = rows.next[row] ?? NONE;
      return row;
    }
    if (rows.count === blocks.length * perBlock) blocks.push(takeBlock());
    rows.owners = growInts(rows.owners, rows.count + 1);
    rows.next = growInts(rows.next, rows.count + 1);
    return rows.count++;
  };

  const remove = (owner: number) => {
    for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; ) {
      const next = rows.next[row] ?? NONE;
      rows.owners[row] = NONE;
      rows.next[row] = rows.free;
      rows.free = row;
      row = next;
    }
    firsts[owner] = 0;
  };

  const add = (owner: number, vector: Float32Array) => {
    const row = takeRow();
    const address = addressOf(row);
    // The row may contain data of a removed vector.
    whole.integers.fill(0, address, address + length);
    const numbers = whole.integers.subarray(address, address + dimension);
    whole.floats[(address + length) / 4] = quantizeRecord(vector, numbers);
    rows.owners[row] = owner;
    rows.next[row] = (firsts[owner] ?? 0) - 1;
    firsts[owner] = row + 1;
    asked = null;
  };

  /** Copies a query to `QUERY`, unless it is there already. */
  const prepare = (query: Float32Array): number => {
    if (prepared.query !== query || prepared.length !== length) {
      const numbers = new Int16Array(whole.floats.buffer, QUERY, length).fill(0);
      prepared = { query, length, factor: quantizeQuery(query, numbers) };
    }
    return prepared.factor;
  };

  /** Multiplies all rows, including free ones. */
  const multiplyAll = (query: Float32Array) => {
    if (products.length < rows.count) products = new Float32Array(Math.ceil(rows.count * GROWTH));
    let row = 0;
    const { floats } = whole;
    for (const block of blocks) {
      const end = block + Math.min(perBlock, rows.count - row) * size;
      multiply(QUERY, block, end, length, size);
      for (let at = (block + length) / 4 + 1; at < end / 4; at += size / 4) {
        products[row++] = floats[at] ?? 0;
      }
    }
    asked = query;
  };

  const multiplyOne = (row: number): number => {
    const address = addressOf(row);
    multiply(QUERY, address, address + size, length, size);
    return whole.floats[(address + length) / 4 + 1] ?? 0;
  };

  return {
    get bytes() {
      return blocks.length * BLOCK + 4 * (2 * rows.owners.length + firsts.length + products.length);
    },

    put(owner, vectors) {
      firsts = growInts(firsts, owner + 1);
      for (const vector of vectors) add(owner, vector);
    },

    remove,

    nearest(query, { count, least, accepts }) {
      prepare(query);
      multiplyAll(query);
      const ownerOf = (row: number) => rows.owners[row] ?? NONE;
      const isAccepted = (row: number) =>
        ownerOf(row) !== NONE && (accepts === null || accepts(ownerOf(row)));
      for (let most = count; ; most *= MORE) {
        const found = largest(products, rows.count, most, isAccepted);
        const different = new Set<number>();
        for (const row of found) different.add(ownerOf(row));
        if (found.length < most || different.size >= least) return different;
      }
    },

    products(query, owners) {
      const factor = prepare(query);
      return owners.map((owner) => {
        let largest = Number.NEGATIVE_INFINITY;
        let [before, nth] = [0, 0];
        // The list begins with the last vector.
        for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE) {
          const product = asked === query ? (products[row] ?? 0) : multiplyOne(row);
          nth++;
          if (product < largest) continue;
          [largest, before] = [product, nth];
        }
        return { product: largest * factor, nth: nth - before };
      });
    },

    first(owner) {
      let last = NONE;
      // The list begins with the last vector.
      for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE)
        last = row;
      if (last === NONE) return null;
      const address = addressOf(last);
      const factor = whole.floats[(address + length) / 4] ?? 0;
      return multiplied(whole.integers.subarray(address, address + dimension), factor);
    },

    close() {
      releaseBlocks(blocks.splice(0));
      asked = null;
      Object.assign(rows, { count: 0, free: NONE });
      firsts = new Int32Array(0);
    },
  };
}

function multiplied(numbers: Int8Array, factor: number): Float32Array {
  const products = new Float32Array(numbers.length);
  for (let at = 0; at < numbers.length; at++) products[at] = (numbers[at] ?? 0) * factor;
  return products;
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
  const factor = factorOf(vector, MOST.record);
  for (let at = 0; at < vector.length; at++) numbers[at] = Math.round((vector[at] ?? 0) / factor);
  return factor;
}

/** Writes a query as whole numbers; see `quantizeRecord`. */
function quantizeQuery(query: Float32Array, numbers: Int16Array): number {
  const factor = factorOf(query, MOST.query);
  for (let at = 0; at < query.length; at++) numbers[at] = Math.round((query[at] ?? 0) / factor);
  return factor;
}
