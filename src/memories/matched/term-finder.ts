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

/** Words of texts that are remembered, a power of two. */
const REMEMBERED = 1 << 12;
/** What most words of a text are of a question. */
const NONE: readonly number[] = [];
/** Letters from which on a word is none. */
const LONG = 100;

/** The words of a question where nothing is known of how rare they are. */
export function termsOf(question: string): Term[] {
  return [...askedWords(question)].map(([token, rareness]) => ({
    token,
    rareness,
    forms: [{ token, share: 1 }],
  }));
}

/**
 * Makes what finds terms in texts, in whatever form they are there. A text takes one pass over its
 * letters.
 */
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

/** Remembers what words of texts are: to cut one out and to stem it takes longer than its hash. */
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
