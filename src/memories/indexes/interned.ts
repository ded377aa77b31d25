import { growInts } from "./growing-arrays.ts";

/** Values that many have in common, each kept once, by small whole numbers; 0 is `null`. */
export interface Interned<Value> {
  /** Bytes of memory that they take, about. */
  readonly bytes: number;
  /** All numbers are below it. */
  readonly end: number;
  /** The number of a value, which one more has now. */
  take(value: Value | null): number;
  /** One has it no more: a value that none has is forgotten, and its number is used again. */
  release(number: number): void;
  /** The number of a value; −1 when none has it. */
  find(value: Value | null): number;
  value(number: number): Value | null;
}

/** Bytes of a value besides its key, and of a key's letter in both. */
const VALUE = 200;
const LETTER = 2;

/** @param keyOf tells values apart */
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
      const left = (users[number] ?? 0) - 1;
      if (value === null) return;
      users[number] = left;
      if (left > 0) return;
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
