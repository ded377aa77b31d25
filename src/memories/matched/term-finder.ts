import { askedWords, tokensOf } from "../indexes/tokens.ts";
import { HAS_UNSPACED } from "../indexes/unspaced-scripts.ts";
import type { Term } from "../indexes/words.ts";
import { createPrefixes, scan } from "./scan.ts";
import { createTokenSuffixes } from "./token-suffixes.ts";

/** Places of a text that have words of a question, by where they end: three equal rows. */
export interface Hits {
  readonly starts: number[];
  readonly ends: number[];
  /** Which term it is, by its place. */
  readonly terms: number[];
}

/** Cached words, a power of two. */
const REMEMBERED = 1 << 12;
/** The terms of most words of a text. */
const NONE: readonly number[] = [];
/** Longer runs of letters do not count as words. */
const LONG = 100;

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
  const prefixes = createPrefixes();
  const suffixes = createTokenSuffixes();
  for (const [number, { forms }] of terms.entries()) {
    for (const { token } of forms) {
      if (numbers.has(token)) continue;
      numbers.set(token, number);
      if (HAS_UNSPACED.test(token)) suffixes.add(token, number);
      else prefixes.add(token);
    }
  }
  const lookUp = createLookUp((word) => {
    let found = NONE;
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
    scan(text, prefixes.isPrefix, {
      word(start, end) {
        if (end - start > LONG) return;
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
  const hashes = new Int32Array(REMEMBERED);
  const remembered: (readonly number[])[] = [];
  return (text: string, start: number, end: number): readonly number[] => {
    let hash = end - start;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
    const slot = hash & (REMEMBERED - 1);
    let found = remembered[slot];
    if (found === undefined || hashes[slot] !== hash) {
      found = read(text.slice(start, end));
      remembered[slot] = found;
      hashes[slot] = hash;
    }
    return found;
  };
}
