import { ACCENT, letterOf, NONE, UNSPACED } from "./letter-codes.ts";

/** What is done with the words of a text. */
interface Visitor {
  /** A word between spaces or signs. */
  word(start: number, end: number): void;
  /** The end of one or more letters of a script without spaces, which began at `start`. */
  unspaced(start: number, end: number): void;
}

/** Letters at the beginning of a word by which most words of a text are passed over. */
const PREFIX = 3;
const KEYS = 1 << 16;

/** The beginnings of words that are looked for. */
export function createPrefixes() {
  const isOne = new Uint8Array(KEYS);
  return {
    /** By the keys of a word's first letters, one to three. */
    isOne,
    /** @param stem other forms of a short one may differ from the third letter on: `use`, `using` */
    add(stem: string) {
      const letters: number[] = [];
      for (let at = 0; at < stem.length; at++) {
        const letter = letterOf(stem.charCodeAt(at));
        if (letter !== ACCENT) letters.push(letter);
      }
      const length = letters.length > PREFIX ? PREFIX : PREFIX - 1;
      isOne[letters.slice(0, length).reduce(keyWith, 0)] = 1;
    },
  };
}

function keyWith(key: number, letter: number): number {
  return (key * 31 + letter + 1) & (KEYS - 1);
}

/**
 * Goes through a text once and makes nothing: 30,000 characters take 0.1 ms.
 * @param isPrefix words are passed over that begin otherwise, and have no part, such as `User` in
 * `getUser`, that begins so
 */
export function scan(text: string, isPrefix: Uint8Array, visitor: Visitor): void {
  let start = -1;
  let unspaced = -1;
  let mayCount = false;
  /** Letters of the word, and of its present part, up to three; and their keys. */
  let letters = 0;
  let key = 0;
  let partLetters = 0;
  let partKey = 0;
  let wasSmall = false;
  for (let at = 0; at <= text.length; at++) {
    const unit = at < text.length ? text.charCodeAt(at) : 0;
    const letter = letterOf(unit);
    if (letter === ACCENT) continue;
    if (letter === NONE || letter === UNSPACED) {
      if (start >= 0 && mayCount) visitor.word(start, at);
      start = -1;
      if (letter === NONE) unspaced = -1;
      else {
        if (unspaced < 0) unspaced = at;
        visitor.unspaced(unspaced, at + 1);
      }
      continue;
    }
    if (start < 0) {
      start = at;
      unspaced = -1;
      mayCount = false;
      letters = 0;
      key = 0;
      partLetters = PREFIX;
      wasSmall = false;
    }
    const isCapital = unit >= 65 && unit <= 90;
    if (isCapital && wasSmall) {
      partLetters = 0;
      partKey = 0;
    }
    wasSmall = !isCapital;
    if (letters < PREFIX) {
      key = keyWith(key, letter);
      letters++;
      if (isPrefix[key] === 1) mayCount = true;
    }
    if (partLetters < PREFIX) {
      partKey = keyWith(partKey, letter);
      partLetters++;
      if (isPrefix[partKey] === 1) mayCount = true;
    }
  }
}
