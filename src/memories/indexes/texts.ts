import { createAllocator } from "./allocator.ts";
import { growInts } from "./growing-arrays.ts";
import { whole } from "./wasm-memory.ts";

/** Texts by small whole numbers, one byte a letter where that is enough. */
export interface Texts {
  /** Bytes of memory that they take, about. */
  readonly bytes: number;
  /**
   * Adds a text whose number has none.
   * @throws RangeError when there is no memory for it; then the texts can only be closed
   */
  put(number: number, text: string): void;
  remove(number: number): void;
  /** Empty where there is none. */
  get(number: number): string;
  /** Gives its memory to others. */
  close(): void;
}

/** Texts take so many bytes, or a multiple of it: room that one has left is for others of its size. */
const STEP = 8;
/** Bytes from which on a text is left to the engine, and what it takes there besides its letters. */
const LARGE = 1_024;
const STRING = 120;
const WIDE = /[^\0-\xff]/;

export function createTexts(): Texts {
  /** Where each text is, in steps; 0 for none. Twice its bytes, and 1 where a letter takes two. */
  let places = new Int32Array(0);
  let sizes = new Int32Array(0);
  const room = createAllocator(STEP);
  const large = new Map<number, string>();
  let largeBytes = 0;

  return {
    get bytes() {
      return room.bytes + largeBytes + 4 * (places.length + sizes.length);
    },

    put(number, text) {
      places = growInts(places, number + 1);
      sizes = growInts(sizes, number + 1);
      const size = bytesOf(text);
      const isWide = size > text.length;
      if (size > LARGE) {
        large.set(number, text);
        largeBytes += size + STRING;
        return;
      }
      const place = room.take(Math.ceil(size / STEP));
      whole.bytes.write(text, place * STEP, isWide ? "utf16le" : "latin1");
      places[number] = place;
      sizes[number] = 2 * size + (isWide ? 1 : 0);
    },

    remove(number) {
      const place = places[number] ?? 0;
      const text = large.get(number);
      if (text !== undefined) {
        large.delete(number);
        largeBytes -= bytesOf(text) + STRING;
      } else if (place > 0) {
        room.give(place, Math.ceil(((sizes[number] ?? 0) >> 1) / STEP));
        places[number] = 0;
      }
    },

    get(number) {
      const place = places[number] ?? 0;
      if (place === 0) return large.get(number) ?? "";
      const size = sizes[number] ?? 0;
      const [from, to] = [place * STEP, place * STEP + (size >> 1)];
      return whole.bytes.toString(size & 1 ? "utf16le" : "latin1", from, to);
    },

    close() {
      room.close();
      places = new Int32Array(0);
      large.clear();
      largeBytes = 0;
    },
  };
}

function bytesOf(text: string): number {
  return WIDE.test(text) ? 2 * text.length : text.length;
}
