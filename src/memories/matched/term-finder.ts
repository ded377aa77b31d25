import { askedWords, HAS_UNSPACED, tokensOf } from "../indexes/tokens.ts";
import type { Term } from "../indexes/words.ts";

/** Most letters of a group, such as a word in Thai or in hiragana. */
const MAX_GROUP = 30;

/** Groups of letters that are words in scripts without spaces. */
function createTokenSuffixes() {
  const groups = new Map<string, number>();
  /** For the last letter of groups: the lengths of the groups, as bits. */
  const lengths = new Map<number, number>();

  return {
    add(group: string, number: number) {
      if (group.length > MAX_GROUP) return;
      groups.set(group, number);
      const last = group.charCodeAt(group.length - 1);
      lengths.set(last, (lengths.get(last) ?? 0) | (1 << group.length));
    },

    /** Returns the longest group at the end of a run of letters, and its beginning. */
    find(text: string, start: number, end: number, task: (start: number, number: number) => void) {
      const known = lengths.get(text.charCodeAt(end - 1));
      if (known === undefined) return;
      for (let length = Math.min(MAX_GROUP, end - start); length > 0; length--) {
        if ((known & (1 << length)) === 0) continue;
        const number = groups.get(text.slice(end - length, end));
        if (number !== undefined) return task(end - length, number);
      }
    },
  };
}

/** Codes of UTF-16 units that are no letter with a code of its own; lower than those of all letters. */
const NONE = 0;
const ACCENT = 1;
const UNSPACED = 2;

const UNITS = 1 << 16;
const UNKNOWN = -1;
const IS_LETTER = /[\p{Alphabetic}\p{N}]/u;
const IS_ACCENT = /\p{M}/u;

/** The codes so far: a regular expression for each letter of a text would take too long. */
const known = new Int32Array(UNITS).fill(UNKNOWN);

/**
 * The code of a UTF-16 unit: of a letter or a digit in lower case and without accents. `UNSPACED` for letters of
 * scripts without spaces between words, `ACCENT` for an accent that is a unit of its own, `NONE` for
 * everything else, such as half of a surrogate pair.
 */
function letterOf(unit: number): number {
  if (known[unit] === UNKNOWN) known[unit] = read(String.fromCharCode(unit));
  return known[unit] ?? NONE;
}

function read(sign: string): number {
  // Unicode assigns the long vowel mark to no script, since two scripts use it.
  if (HAS_UNSPACED.test(sign) || sign === "ー") return UNSPACED;
  if (IS_ACCENT.test(sign)) return ACCENT;
  return IS_LETTER.test(sign) ? sign.toLowerCase().normalize("NFKD").charCodeAt(0) : NONE;
}

/** Receives the words of a text. */
interface Visitor {
  /** A word between spaces or punctuation. */
  word(start: number, end: number): void;
  /** Each letter in a script without spaces: it ends at `end`, the run of such letters begins at `start`. */
  unspaced(start: number, end: number): void;
}

/** Letters at the beginning of a word: most words of a text need no more to be passed over. */
const PREFIX = 3;
const KEYS = 1 << 12;

/**
 * The key of the beginning of a word that is wanted: of its first three letters. Of three letters or fewer only two count,
 * since other forms may differ: `use`, `using`.
 */
function prefixKey(stem: string): number {
  const units = Array.from({ length: stem.length }, (_, at) => letterOf(stem.charCodeAt(at)));
  const letters = units.filter((letter) => letter !== ACCENT);
  return letters.slice(0, letters.length > PREFIX ? PREFIX : PREFIX - 1).reduce(keyWith, 0);
}

function keyWith(key: number, letter: number): number {
  return (key * 31 + letter + 1) & (KEYS - 1);
}

/**
 * Reads a text once, without allocating: 30,000 characters take 0.1 ms.
 * @param isPrefix the keys of the wanted beginnings. A word is passed over unless it, or one of its parts
 * such as `User` in `getUser`, has such a beginning.
 */
function scan(text: string, isPrefix: Uint8Array, visitor: Visitor): void {
  for (let at = 0; at < text.length; ) {
    const letter = letterOf(text.charCodeAt(at));
    if (letter > UNSPACED) at = scanWord(text, at, isPrefix, visitor);
    else if (letter === UNSPACED) at = scanUnspaced(text, at, visitor);
    else at++;
  }
}

/** @returns where the word ends that begins at `start` */
function scanWord(text: string, start: number, isPrefix: Uint8Array, visitor: Visitor): number {
  let isWanted = false;
  /** Letters that the key contains, at most three: those of the word, and of its current part. */
  let letters = 0;
  let key = 0;
  let partLetters = PREFIX;
  let partKey = 0;
  let wasSmall = false;
  let at = start;
  for (; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const letter = letterOf(unit);
    if (letter === ACCENT) continue;
    if (letter <= UNSPACED) break;
    const isCapital = unit >= 65 && unit <= 90;
    if (isCapital && wasSmall) {
      partLetters = 0;
      partKey = 0;
    }
    wasSmall = !isCapital;
    if (letters < PREFIX) {
      key = keyWith(key, letter);
      letters++;
      if (isPrefix[key] === 1) isWanted = true;
    }
    if (partLetters < PREFIX) {
      partKey = keyWith(partKey, letter);
      partLetters++;
      if (isPrefix[partKey] === 1) isWanted = true;
    }
  }
  if (isWanted) visitor.word(start, at);
  return at;
}

/** @returns where the run of letters without spaces ends that begins at `start` */
function scanUnspaced(text: string, start: number, visitor: Visitor): number {
  let at = start;
  for (; at < text.length; at++) {
    const letter = letterOf(text.charCodeAt(at));
    if (letter === UNSPACED) visitor.unspaced(start, at + 1);
    else if (letter !== ACCENT) break;
  }
  return at;
}

/** Places of a text that have words of a question, by where they end: three equal rows. */
export interface Hits {
  readonly starts: number[];
  readonly ends: number[];
  /** Which term it is, by its place. */
  readonly terms: number[];
}

/** Cached words, a power of two. */
const CACHED = 1 << 10;
/** The terms of most words of a text. */
const NO_SPANS: readonly number[] = [];
/** Longer runs of letters do not count as words. */
const MAX_LETTERS = 100;

/** The words of a question as terms, without statistics of how rare they are. */
export function termsOf(question: string): Term[] {
  return [...askedWords(question)].map(([token, rareness]) => ({
    token,
    rareness,
    forms: [{ token, share: 1 }],
  }));
}

/** Returns a function that finds terms in a text, in all their forms, in one pass over its letters. */
export function createFinder(terms: readonly Term[]): (text: string) => Hits {
  const numbers = new Map<string, number>();
  const isPrefix = new Uint8Array(KEYS);
  const suffixes = createTokenSuffixes();
  for (const [number, { forms }] of terms.entries()) {
    for (const { token } of forms) {
      if (numbers.has(token)) continue;
      numbers.set(token, number);
      if (HAS_UNSPACED.test(token)) suffixes.add(token, number);
      else isPrefix[prefixKey(token)] = 1;
    }
  }
  const lookUp = createLookUp((word) => {
    let found = NO_SPANS;
    for (const token of tokensOf(word)) {
      const number = numbers.get(token);
      if (number !== undefined && !found.includes(number)) found = [...found, number];
    }
    return found;
  });

  return (text) => {
    const hits: Hits = { starts: [], ends: [], terms: [] };
    const add = (start: number, end: number, term: number) => {
      hits.starts.push(start);
      hits.ends.push(end);
      hits.terms.push(term);
    };
    scan(text, isPrefix, {
      word(start, end) {
        if (end - start > MAX_LETTERS) return;
        for (const term of lookUp(text, start, end)) add(start, end, term);
      },
      unspaced(start, end) {
        suffixes.find(text, start, end, (from, term) => add(from, end, term));
      },
    });
    return hits;
  };
}

/** Caches the terms of words by their hash, since cutting a word out and stemming it takes longer. */
function createLookUp(read: (word: string) => readonly number[]) {
  const hashes = new Int32Array(CACHED);
  const remembered: (readonly number[])[] = [];
  return (text: string, start: number, end: number): readonly number[] => {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = hash & (CACHED - 1);
    let found = remembered[slot];
    if (found === undefined || hashes[slot] !== hash) {
      found = read(text.slice(start, end));
      remembered[slot] = found;
      hashes[slot] = hash;
    }
    return found;
  };
}
