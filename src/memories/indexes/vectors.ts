import { growInts } from "./growing-arrays.ts";
import type { Accepts } from "./largest.ts";
import { createVectorRows } from "./vector-rows.ts";

/**
 * Vectors with one byte for each number. A query is compared with all of them, or with their sketches if there are many.
 * Each vector has an owner, a small whole number, which may own several. Products are computed from the bytes: for vectors
 * of length 1, they are off by up to 0.001.
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

/** If too few owners are found, this factor multiplies the number of vectors considered. */
const MORE = 4;
/** Stands for no row and no owner. */
const NONE = -1;

/** @param dimension of its vectors */
export function createVectorIndex(dimension: number): VectorIndex {
  const vectorRows = createVectorRows(dimension);
  /** By row: its owner, and the next row of the same owner. For a free row: the next free row. */
  const rows = { count: 0, free: NONE, owners: new Int32Array(0), next: new Int32Array(0) };
  /** The first row of each owner, plus 1; 0 if it has none. */
  let firsts = new Int32Array(0);

  const takeRow = (): number => {
    if (rows.free !== NONE) {
      const row = rows.free;
      rows.free = rows.next[row] ?? NONE;
      return row;
    }
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
    vectorRows.put(row, vector);
    rows.owners[row] = owner;
    rows.next[row] = (firsts[owner] ?? 0) - 1;
    firsts[owner] = row + 1;
  };

  return {
    get bytes() {
      return vectorRows.bytes + 4 * (2 * rows.owners.length + firsts.length);
    },

    put(owner, vectors) {
      firsts = growInts(firsts, owner + 1);
      for (const vector of vectors) add(owner, vector);
    },

    remove,

    nearest(query, { count, least, accepts }) {
      const ownerOf = (row: number) => rows.owners[row] ?? NONE;
      const search = vectorRows.search(
        query,
        (row) => ownerOf(row) !== NONE && (accepts === null || accepts(ownerOf(row))),
      );
      for (let most = count; ; most *= MORE) {
        const found = search(most);
        const different = new Set<number>();
        for (const row of found) different.add(ownerOf(row));
        if (found.length < most || different.size >= least) return different;
      }
    },

    products(query, owners) {
      const chosen: number[] = [];
      const ends = owners.map((owner) => {
        // The list begins with the last vector.
        for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE) {
          chosen.push(row);
        }
        return chosen.length;
      });
      const products = vectorRows.products(query, chosen);
      let at = 0;
      return ends.map((end) => {
        let [largest, nth] = [Number.NEGATIVE_INFINITY, 0];
        for (; at < end; at++) {
          const product = products[at] ?? 0;
          if (product >= largest) [largest, nth] = [product, end - 1 - at];
        }
        return { product: largest, nth };
      });
    },

    first(owner) {
      let last = NONE;
      // The list begins with the last vector.
      for (let row = (firsts[owner] ?? 0) - 1; row !== NONE; row = rows.next[row] ?? NONE)
        last = row;
      return last === NONE ? null : vectorRows.vector(last);
    },

    close() {
      vectorRows.close();
      Object.assign(rows, { count: 0, free: NONE });
      firsts = new Int32Array(0);
    },
  };
}
