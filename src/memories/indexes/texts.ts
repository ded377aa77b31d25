import { growInts } from "./growing-arrays.ts";
import { createAllocator, whole } from "./wasm-memory.ts";

/** Values that many users share. Each is kept once and has a small whole number; 0 stands for `null`. */
export interface Interned<Value> {
  /** Bytes of memory that the values take, about. */
  readonly bytes: number;
  /** All numbers are below it. */
  readonly end: number;
  /** Adds a user of a value, and returns the value's number. */
  take(value: Value | null): number;
  /** Removes a user. A value without users is dropped, and its number is used again. */
  release(number: number): void;
  /** The number of a value; −1 if it has no users. */
  find(value: Value | null): number;
  value(number: number): Value | null;
}

/** Bytes of a value without its key, and of each letter of the key. */
const VALUE = 200;
const LETTER = 2;

/** @param keyOf returns a different key for each different value */
export function createInterned<Value>(keyOf: (value: Value) => string): Interned<Value> {
  const numbers = new Map<string, number>();
  const values: (Value | null)[] = [null];
  const free: number[] = [];
  let users = new Int32Array(1);
  let letters = 0;

  return {
    get bytes() {
      return numbers.size * VALUE + letters * LETTER;
    },

    get end() {
      return values.length;
    },

    take(value) {
      if (value === null) return 0;
      const key = keyOf(value);
      const known = numbers.get(key);
      const number = known ?? free.pop() ?? values.length;
      if (known === undefined) {
        numbers.set(key, number);
        values[number] = value;
        letters += key.length;
        users = growInts(users, number + 1);
      }
      users[number] = (users[number] ?? 0) + 1;
      return number;
    },

    release(number) {
      const value = values[number] ?? null;
      const remaining = (users[number] ?? 0) - 1;
      if (value === null) return;
      users[number] = remaining;
      if (remaining > 0) return;
      const key = keyOf(value);
      numbers.delete(key);
      letters -= key.length;
      values[number] = null;
      free.push(number);
    },

    find: (value) => (value === null ? 0 : (numbers.get(keyOf(value)) ?? -1)),

    value: (number) => values[number] ?? null,
  };
}

/** Texts by small whole numbers, with one byte for each letter where that is enough. */
interface Texts {
  /** Bytes of memory that the texts take, about. */
  readonly bytes: number;
  /**
   * Adds a text whose number is free.
   * @throws RangeError when there is no memory left; then the texts must be closed
   */
  put(number: number, text: string): void;
  remove(number: number): void;
  /** Returns an empty text for a free number. */
  get(number: number): string;
  /** Releases all memory. */
  close(): void;
}

/** The size of a text is rounded up to a multiple of this number of bytes, so that another text can reuse its place. */
const STEP = 8;
/** Larger texts, in bytes, are kept as JavaScript strings. */
const LARGE = 1_024;
/** Bytes of a JavaScript string besides its letters. */
const STRING = 120;
const WIDE = /[^\0-\xff]/;

export function createTexts(): Texts {
  /** `places`: the address of each text in steps; 0 for none. `sizes`: twice its bytes, plus 1 for UTF-16. */
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
        room.release(place, Math.ceil(((sizes[number] ?? 0) >> 1) / STEP));
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
