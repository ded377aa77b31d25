import { readFileSync } from "node:fs";
import { type CompactVector, LARGEST, quantize } from "../compact-vector.ts";
import wasm from "./dot-products.wasm" with { type: "file" };
import { largest } from "./largest.ts";

/** Whether what has an id may be found; null for all. */
export type Accepts = ((id: string) => boolean) | null;

/**
 * The vectors of rows side by side, one byte a number, all of which a query is compared with: 0.3 ms
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
const STEP = 32;
/** What a record has besides its numbers: a factor, a product, and room so that the next is aligned. */
const TAIL = 16;
/** The largest numbers of records and queries: the sum of 4,096 products stays within 31 bits. */
const MOST = { record: 127, query: 16_383 };
const PER_BYTE = LARGEST / MOST.record;
/** Bytes of a piece of memory, which one index has at a time, and the least that it grows by. */
const PIECE = 1 << 16;
const GROWTH = 8;
/** How much more room is made than is needed. */
const SPARE = 1.25;

/**
 * One memory for all indexes: the engine has room for eight, and collects all garbage before it makes
 * one more. The query is in its first piece.
 */
const { memory, multiply } = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(wasm)))
  .exports as never as DotProducts;
const free: number[] = [];
let bytes = new Uint8Array(memory.buffer);
let floats = new Float32Array(memory.buffer);

/** The address of a piece that no index has. */
function takePiece(): number {
  if (free.length === 0) {
    const end = bytes.length;
    const added = Math.max(GROWTH, Math.ceil((end / PIECE) * (SPARE - 1)));
    memory.grow(added);
    bytes = new Uint8Array(memory.buffer);
    floats = new Float32Array(memory.buffer);
    for (let piece = added - 1; piece >= 0; piece--) free.push(end + piece * PIECE);
  }
  const piece = free.pop();
  if (piece === undefined) throw new RangeError("there is no memory for vectors");
  return piece;
}

/** @param dimension of its vectors */
export function createFlatIndex(dimension: number): FlatIndex {
  const length = Math.ceil(dimension / STEP) * STEP;
  const size = length + TAIL;
  const inPiece = Math.floor(PIECE / size);
  const pieces: number[] = [];
  const rowIds: string[] = [];
  const places = new Map<string, number>();
  let products = new Float32Array(0);

  const addressOf = (place: number) =>
    (pieces[Math.floor(place / inPiece)] ?? 0) + (place % inPiece) * size;
  const freePieces = (needed: number) => {
    while (pieces.length > needed) free.push(pieces.pop() ?? 0);
  };

  return {
    get size() {
      return rowIds.length;
    },

    has: (rowId) => places.has(rowId),

    put(rowId, vector) {
      const place = places.get(rowId) ?? rowIds.length;
      if (place === pieces.length * inPiece) pieces.push(takePiece());
      const address = addressOf(place);
      // What others have left beyond its numbers counts for nothing.
      const numbers = new Int8Array(memory.buffer, address, length).fill(0);
      for (let at = 0; at < dimension; at++) {
        numbers[at] = Math.round((vector.numbers[at] ?? 0) / PER_BYTE);
      }
      floats[(address + length) / 4] = vector.factor * PER_BYTE;
      rowIds[place] = rowId;
      places.set(rowId, place);
    },

    remove(rowId) {
      const place = places.get(rowId);
      if (place === undefined) return;
      // The last one takes its place.
      const last = rowIds.pop() ?? rowId;
      const address = addressOf(rowIds.length);
      bytes.copyWithin(addressOf(place), address, address + size);
      freePieces(Math.ceil(rowIds.length / inPiece));
      places.delete(rowId);
      if (last === rowId) return;
      rowIds[place] = last;
      places.set(last, place);
    },

    clear() {
      rowIds.length = 0;
      places.clear();
      freePieces(0);
    },

    nearest(query, count, accepts = null) {
      quantize(query, new Int16Array(memory.buffer, 0, length).fill(0), MOST.query);
      if (products.length < rowIds.length) products = new Float32Array(rowIds.length * SPARE);
      let place = 0;
      for (const piece of pieces) {
        const end = piece + Math.min(inPiece, rowIds.length - place) * size;
        multiply(0, piece, end, length, size);
        for (let at = (piece + length) / 4 + 1; at < end / 4; at += size / 4) {
          products[place++] = floats[at] ?? 0;
        }
      }
      const isAccepted = accepts && ((place: number) => accepts(rowIds[place] ?? ""));
      return largest(products, rowIds.length, count, isAccepted).map(
        (place) => rowIds[place] ?? "",
      );
    },
  };
}
