import { tokensOf } from "../indexes/tokens.ts";
import { createGroups, UNSPACED } from "./groups.ts";
import { createPrefixes, scan } from "./scan.ts";

/** Places of a text that have words of the question, by where they end: three equal rows. */
export interface Hits {
  readonly starts: number[];
  readonly ends: number[];
  /** Numbers of words, from 0. */
  readonly terms: number[];
}

/** Finds the words of one question in texts, in whatever form they are there. */
export interface Terms {
  /** The different ones, as `tokensOf` has them; of scripts without spaces some letters each. */
  readonly words: readonly string[];
  hitsIn(text: string): Hits;
}

/** Words of texts that are remembered, a power of two. */
const REMEMBERED = 1 << 12;
const WORD = /[\p{Alphabetic}\p{N}]+/gu;
/** Where an identifier has its next part, such as before the U of `getUser`. */
const PART = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u;
/** Letters from which on a word is none. */
const LONG = 100;

/** Reads a question once: a text then takes one pass over its letters. */
export function readTerms(question: string): Terms {
  const stems = new Map<string, number>();
  const prefixes = createPrefixes();
  for (const word of question.replace(UNSPACED, " ").match(WORD) ?? []) {
    for (const stem of stemsOf(word)) {
      if (!stems.has(stem)) stems.set(stem, stems.size);
      prefixes.add(stem);
    }
  }
  const groups = createGroups(question);
  const lookUp = createLookUp((word) => stemsOf(word).flatMap((stem) => stems.get(stem) ?? []));

  return {
    words: [...stems.keys(), ...groups.all],
    hitsIn(text) {
      const hits: Hits = { starts: [], ends: [], terms: [] };
      const add = (start: number, end: number, term: number) => {
        hits.starts.push(start);
        hits.ends.push(end);
        hits.terms.push(term);
      };
      scan(text, prefixes.isOne, {
        word(start, end) {
          for (const term of lookUp(text, start, end)) add(start, end, term);
        },
        unspaced(start, end) {
          groups.find(text, start, end, (from, group) => add(from, end, stems.size + group));
        },
      });
      return hits;
    },
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
      found = [...new Set(read(text.slice(start, end)))];
      remembered[slot] = found;
      hashes[slot] = hash;
    }
    return found;
  };
}

/** The stems of a word, and of the parts of an identifier. */
function stemsOf(word: string): string[] {
  if (word.length > LONG) return [];
  const parts = word.split(PART);
  return [...tokensOf(word), ...(parts.length > 1 ? parts.flatMap(tokensOf) : [])];
}
