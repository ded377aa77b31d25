import { growInts } from "./growing-arrays.ts";

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
