import { growInts } from "./growing-arrays.ts";
import { type Accepts, largest } from "./largest.ts";
import { BLOCK, multiply, QUERY, releaseBlocks, takeBlock, whole } from "./wasm-memory.ts";

/**
 * Vectors side by side, one byte a number, all of which a query is compared with: 20 ms for a
 * million of 384 numbers. They belong to whatever has a small whole number, which may have several.
 * Products are those of bytes: of two vectors of length 1 they differ by up to 0.001.
 */
interface VectorIndex {
  /** Bytes of memory that it takes. */
  readonly bytes: number;
  /**
   * Adds the vectors of an owner that has none.
   * @throws RangeError when there is no memory for them; then the index can only be closed
   */
  put(owner: number, vectors: readonly Float32Array[]): void;
  /** Removes all vectors of an owner. */
  remove(owner: number): void;
  /**
   * The owners of the `count` vectors that have the largest dot products with a query's, each once:
   * those of more vectors while they are fewer than `least`.
   * @param accepts is asked only about owners that would be among them
   */
  nearest(
    query: Float32Array,
    { count, least, accepts }: { count: number; least: number; accepts: Accepts },
  ): Set<number>;
  /** The largest dot product of each owner's vectors with a query's, and which of its vectors has it. */
  products(query: Float32Array, owners: readonly number[]): { product: number; nth: number }[];
  /** The first vector of an owner, as it is kept; null without any. */
  first(owner: number): Float32Array | null;
  /** Gives its memory to other indexes. */
  close(): void;
}

/** Numbers that are multiplied at once. */
const STEP = 32;
/** What a record has besides its numbers: a factor, a product, and room so that the next is aligned. */
const TAIL = 16;
/** The largest numbers of records and queries: the sum of 4,096 products stays within 31 bits. */
const MOST = { record: 127, query: 16_383 };
/** How much more room is made than is needed. */
const SPARE = 1.25;
const MORE = 4;
/** In place of a row or an owner. */
const NONE = -1;

/** What is at `QUERY`: a search asks several times with one vector. */
let prepared: { query: Float32Array | null; length: number; factor: number } = {
  ...{ query: null, length: 0, factor: 1 },
};

/** @param dimension of its vectors */
export function createVectorIndex(dimension: number): VectorIndex {
  const length = Math.ceil(dimension / STEP) * STEP;
  const size = length + TAIL;
  const perBlock = Math.floor(BLOCK / size);
  const blocks: number[] = [];
  /** By row: whose it is, and the next row of the same owner or, of free ones, the next free one. */
  const rows = { count: 0, free: NONE, owners: new Int32Array(0), next: new Int32Array(0) };
  /** The first row of each owner, and 1: 0 where there is none. */
  let firsts = new Int32Array(0);
  let products = new Float32Array(0);

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
    // Others have left something there.
    whole.integers.fill(0, address, address + length);
    const numbers = whole.integers.subarray(address, address + dimension);
    whole.floats[(address + length) / 4] = quantize(vector, numbers, MOST.record);
    rows.owners[row] = owner;
    rows.next[row] = (firsts[owner] ?? 0) - 1;
    firsts[owner] = row + 1;
  };

  /** Puts a query where it is multiplied, unless it is there. */
  const prepare = (query: Float32Array): number => {
    if (prepared.query !== query || prepared.length !== length) {
      const numbers = new Int16Array(whole.floats.buffer, QUERY, length).fill(0);
      prepared = { query, length, factor: quantize(query, numbers, MOST.query) };
    }
    return prepared.factor;
  };

  /** Multiplies all rows, free ones too. */
  const multiplyAll = () => {
    if (products.length < rows.count) products = new Float32Array(Math.ceil(rows.count * SPARE));
    let row = 0;
    const { floats } = whole;
    for (const block of blocks) {
      const end = block + Math.min(perBlock, rows.count - row) * size;
      multiply(QUERY, block, end, length, size);
      for (let at = (block + length) / 4 + 1; at < end / 4; at += size / 4) {
        products[row++] = floats[at] ?? 0;
      }
    }
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
      multiplyAll();
      const { owners } = rows;
      const ownerOf = (row: number) => owners[row] ?? NONE;
      const isAccepted = (row: number) => {
        const owner = ownerOf(row);
        return owner !== NONE && (accepts === null || accepts(owner));
      };
      for (let most = count; ; most *= MORE) {
        const found = largest(products, rows.count, most, isAccepted);
        const different = new Set(found.map(ownerOf));
        if (found.length < most || different.size >= least) return different;
      }
    },

    products(query, owners) {
      const factor = prepare(query);
      return owners.map((owner) => {
        let [largest, before, nth] = [Number.NEGATIVE_INFINITY, 0, 0];
        // The one that was put last is the first here.
        for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE) {
          const address = addressOf(row);
          multiply(QUERY, address, address + size, length, size);
          const product = whole.floats[(address + length) / 4 + 1] ?? 0;
          nth++;
          if (product < largest) continue;
          [largest, before] = [product, nth];
        }
        return { product: largest * factor, nth: nth - before };
      });
    },

    first(owner) {
      let last = NONE;
      // The one that was put last is the first here.
      for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE)
        last = row;
      if (last === NONE) return null;
      const address = addressOf(last);
      const factor = whole.floats[(address + length) / 4] ?? 0;
      return Float32Array.from(
        whole.integers.subarray(address, address + dimension),
        (number) => number * factor,
      );
    },

    close() {
      releaseBlocks(blocks.splice(0));
      Object.assign(rows, { count: 0, free: NONE });
      firsts = new Int32Array(0);
    },
  };
}

/**
 * Writes a vector as whole numbers up to `most` and from `-most` on.
 * @returns what they are to be multiplied with
 */
function quantize(vector: Float32Array, numbers: Int8Array | Int16Array, most: number): number {
  let highest = 0;
  for (let at = 0; at < vector.length; at++) highest = Math.max(highest, Math.abs(vector[at] ?? 0));
  const factor = highest / most || 1;
  for (let at = 0; at < vector.length; at++) numbers[at] = Math.round((vector[at] ?? 0) / factor);
  return factor;
}
