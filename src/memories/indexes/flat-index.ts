import { readFileSync } from "node:fs";
import { type CompactVector, quantize } from "../compact-vector.ts";
import wasm from "./dot-products.wasm" with { type: "file" };
import { type Accepts, largest } from "./largest.ts";

/**
 * The vectors of rows side by side, one byte a number, all of which a query is compared with: 0.4 ms
 * for 10,000 of them.
 */
export interface FlatIndex {
  /** How many rows it has. */
  readonly size: number;
  has(rowId: string): boolean;
  put(rowId: string, vector: CompactVector): void;
  remove(rowId: string): void;
  clear(): void;
  /**
   * The rows whose vectors have the largest dot products with a query's, the largest first, or
   * about: bytes move the product of two vectors of length 1 by 0.001.
   */
  nearest(query: Float32Array, count: number, accepts?: Accepts): string[];
}

/** See `dot-products.wat`, addresses and sizes in bytes. */
interface DotProducts {
  memory: WebAssembly.Memory;
  multiply(query: number, record: number, end: number, length: number, size: number): void;
}

/** Numbers that are multiplied at once. */
const STEP = 16;
/** What a record has besides its numbers: a factor, a product, and room so that the next is aligned. */
const TAIL = 16;
/** The largest numbers of records and queries: the sum of 4,096 products stays within 31 bits. */
const MOST = { record: 127, query: 16_383 };
const PAGE = 1 << 16;
/** How much more room is made than is needed, since making it may copy all. */
const SPARE = 1.25;

const dotProducts = new WebAssembly.Module(readFileSync(wasm));

/** @param dimension of its vectors */
export function createFlatIndex(dimension: number): FlatIndex {
  const { memory, multiply } = new WebAssembly.Instance(dotProducts)
    .exports as never as DotProducts;
  const length = Math.ceil(dimension / STEP) * STEP;
  const size = length + TAIL;
  const first = length * Int16Array.BYTES_PER_ELEMENT;
  const rowIds: string[] = [];
  const places = new Map<string, number>();
  let floats = new Float32Array(memory.buffer);
  let products = new Float32Array(0);

  const addressOf = (place: number) => first + place * size;
  const makeRoom = (end: number) => {
    const { byteLength } = memory.buffer;
    if (end <= byteLength) return;
    memory.grow(Math.ceil((end * SPARE - byteLength) / PAGE));
    floats = new Float32Array(memory.buffer);
  };

  return {
    get size() {
      return rowIds.length;
    },

    has: (rowId) => places.has(rowId),

    put(rowId, vector) {
      const place = places.get(rowId) ?? rowIds.length;
      const address = addressOf(place);
      makeRoom(address + size);
      const numbers = new Int8Array(memory.buffer, address, length);
      floats[(address + length) / 4] =
        vector.factor * quantize(vector.numbers, numbers, MOST.record);
      rowIds[place] = rowId;
      places.set(rowId, place);
    },

    remove(rowId) {
      const place = places.get(rowId);
      if (place === undefined) return;
      // The last one takes its place.
      const last = rowIds.pop() ?? rowId;
      const address = addressOf(rowIds.length);
      new Uint8Array(memory.buffer).copyWithin(addressOf(place), address, address + size);
      places.delete(rowId);
      if (last === rowId) return;
      rowIds[place] = last;
      places.set(last, place);
    },

    clear() {
      rowIds.length = 0;
      places.clear();
    },

    nearest(query, count, accepts = null) {
      quantize(query, new Int16Array(memory.buffer, 0, length), MOST.query);
      multiply(0, first, addressOf(rowIds.length), length, size);
      if (products.length < rowIds.length) products = new Float32Array(rowIds.length * SPARE);
      for (let place = 0, at = (first + length) / 4 + 1; place < rowIds.length; place++) {
        products[place] = floats[at] ?? 0;
        at += size / 4;
      }
      const isAccepted = accepts && ((place: number) => accepts(rowIds[place] ?? ""));
      return largest(products, rowIds.length, count, isAccepted).map(
        (place) => rowIds[place] ?? "",
      );
    },
  };
}
