import { grow } from "./growing-arrays.ts";
import { createAllocator, views } from "./wasm-memory.ts";

/** Bytes of a value without its key, and of each letter of the key. */
const VALUE = 200;
const LETTER = 2;

export type Interned<Value> = ReturnType<typeof createInterned<Value>>;

/**
 * Values that many users share. Each is kept once and has a small whole number; 0 stands for `null`.
 * @param keyOf returns a different key for each different value
 */
export function createInterned<Value>(keyOf: (value: Value) => string) {
  const numbers = new Map<string, number>();
  const values: (Value | null)[] = [null];
  const free: number[] = [];
  let users = new Int32Array(1);
  let letters = 0;

  return {
    get bytes() {
      return numbers.size * VALUE + letters * LETTER;
    },

    /** All numbers are below it. */
    get end() {
      return values.length;
    },

    /** Adds a user of a value, and returns the value's number. */
    take(value: Value | null): number {
      if (value === null) return 0;
      const key = keyOf(value);
      const known = numbers.get(key);
      const number = known ?? free.pop() ?? values.length;
      if (known === undefined) {
        numbers.set(key, number);
        values[number] = value;
        letters += key.length;
        users = grow(users, number + 1);
      }
      users[number] = (users[number] ?? 0) + 1;
      return number;
    },

    /** Removes a user. A value without users is dropped, and its number is used again. */
    release(number: number): void {
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

    /** The number of a value; −1 if it has no users. */
    find: (value: Value | null) => (value === null ? 0 : (numbers.get(keyOf(value)) ?? -1)),

    value: (number: number) => values[number] ?? null,
  };
}

/** The size of a text is rounded up to a multiple of this number of bytes, so that another text can reuse its place. */
const STEP = 8;
/** Larger texts, in bytes, are kept as JavaScript strings. */
const LARGE = 1_024;
/** Bytes of a JavaScript string besides its letters. */
const STRING = 120;
const WIDE = /[^\0-\xff]/;

/** Texts by small whole numbers, with one byte for each letter where that is enough. */
export function createTexts() {
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

    /**
     * Adds a text whose number is free.
     * @throws RangeError when there is no memory left; then the texts must be closed
     */
    put(number: number, text: string): void {
      places = grow(places, number + 1);
      sizes = grow(sizes, number + 1);
      const size = bytesOf(text);
      const isWide = size > text.length;
      if (size > LARGE) {
        large.set(number, text);
        largeBytes += size + STRING;
        return;
      }
      const place = room.take(Math.ceil(size / STEP));
      views.bytes.write(text, place * STEP, isWide ? "utf16le" : "latin1");
      places[number] = place;
      sizes[number] = 2 * size + (isWide ? 1 : 0);
    },

    remove(number: number): void {
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

    /** Returns an empty text for a free number. */
    get(number: number): string {
      const place = places[number] ?? 0;
      if (place === 0) return large.get(number) ?? "";
      const size = sizes[number] ?? 0;
      const [from, to] = [place * STEP, place * STEP + (size >> 1)];
      return views.bytes.toString(size & 1 ? "utf16le" : "latin1", from, to);
    },

    close(): void {
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
