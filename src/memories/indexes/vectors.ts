import { grow } from "./growing-arrays.ts";
import type { Accepts } from "./largest.ts";
import { createVectorRows } from "./vector-rows.ts";

/** If too few owners are found, this factor multiplies the number of vectors considered. */
const MORE = 4;
/** Stands for no row and no owner. */
const NONE = -1;

export type VectorIndex = ReturnType<typeof createVectorIndex>;

/**
 * Vectors with one byte for each number. A query is compared with all of them, or with their sketches if there are many.
 * Each vector has an owner, a small whole number, which may own several. Products are computed from the bytes: for vectors
 * of length 1, they are off by up to 0.001.
 * @param dimension of the vectors
 */
export function createVectorIndex(dimension: number) {
  const rows = createVectorRows(dimension);
  let count = 0;
  const free: number[] = [];
  /** By row: its owner, and the row of the owner's vector before it. */
  let owners = new Int32Array(0);
  let previous = new Int32Array(0);
  /** The row of each owner's last vector, plus 1; 0 if it has none. */
  let lasts = new Int32Array(0);

  /** The rows of an owner's vectors, in order. */
  const rowsOf = (owner: number): number[] => {
    const found: number[] = [];
    for (let row = (lasts[owner] ?? 0) - 1; row !== NONE; row = previous[row] ?? NONE) {
      found.push(row);
    }
    return found.reverse();
  };

  return {
    get bytes() {
      return rows.bytes + 4 * (2 * owners.length + lasts.length);
    },

    /**
     * Adds the vectors of an owner that has none.
     * @throws RangeError when there is no memory left; then the index must be closed
     */
    put(owner: number, vectors: readonly Float32Array[]): void {
      lasts = grow(lasts, owner + 1);
      for (const vector of vectors) {
        const row = free.pop() ?? count++;
        owners = grow(owners, count);
        previous = grow(previous, count);
        rows.put(row, vector);
        owners[row] = owner;
        previous[row] = (lasts[owner] ?? 0) - 1;
        lasts[owner] = row + 1;
      }
    },

    remove(owner: number): void {
      for (const row of rowsOf(owner).reverse()) {
        owners[row] = NONE;
        free.push(row);
      }
      lasts[owner] = 0;
    },

    /**
     * The owners of the `count` vectors with the largest dot products with a query, each once. More vectors are
     * considered while there are fewer than `least` owners.
     * @param accepts called only for owners that would be among them
     */
    nearest(
      query: Float32Array,
      { count, least, accepts }: { count: number; least: number; accepts: Accepts },
    ): Set<number> {
      const ownerOf = (row: number) => owners[row] ?? NONE;
      const search = rows.search(
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

    /** The owners of the `count` vectors with the largest dot products with a query that are larger than `least`. */
    above(
      query: Float32Array,
      {
        count,
        least,
        accepts,
      }: { count: number; least: number; accepts: (owner: number) => boolean },
    ): Set<number> {
      const ownerOf = (row: number) => owners[row] ?? NONE;
      const isAccepted = (row: number) => ownerOf(row) !== NONE && accepts(ownerOf(row));
      return new Set(rows.above(query, least, count, isAccepted).map(ownerOf));
    },

    /** The largest dot product of each owner's vectors with a query, and the number of that vector. */
    products(query: Float32Array, chosen: readonly number[]): { product: number; nth: number }[] {
      const own = chosen.map(rowsOf);
      const products = rows.products(query, own.flat());
      let at = 0;
      return own.map(({ length }) => {
        let [largest, nth] = [Number.NEGATIVE_INFINITY, 0];
        for (let place = 0; place < length; place++) {
          const product = products[at++] ?? 0;
          if (product > largest) [largest, nth] = [product, place];
        }
        return { product: largest, nth };
      });
    },

    /** The first vector of an owner, computed from its bytes; `null` if there is none. */
    first(owner: number): Float32Array | null {
      const [row] = rowsOf(owner);
      return row === undefined ? null : rows.vector(row);
    },

    close(): void {
      rows.close();
      free.length = 0;
      count = 0;
      lasts = new Int32Array(0);
    },
  };
}
