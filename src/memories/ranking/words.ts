import { STOP_WORDS } from "../../stop-words.ts";

const STOP = new Set(STOP_WORDS);
const WORD = /[\p{L}\p{N}]+/gu;
/** Scripts that put no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** Letters of a word in these scripts, about. */
const UNSPACED_LENGTH = 2;

/** The words of a text that say what it is about, in lower case, in order. */
export function contentWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((word) => !STOP.has(word));
}

/** How many different words say what a text is about; where no spaces tell, an estimate. */
export function countContentWords(text: string): number {
  const words = new Set(contentWords(text));
  if (!UNSPACED.test(text)) return words.size;
  let count = 0;
  for (const word of words) {
    count += UNSPACED.test(word) ? Math.ceil([...word].length / UNSPACED_LENGTH) : 1;
  }
  return count;
}

/** Letters that an ending has at the most, and those that a stem keeps at the least. */
const ENDING = 3;
const STEM = 4;

/** The start of a word that its other forms share, about. */
export function stemOf(word: string): string {
  return word.slice(0, Math.max(STEM, word.length - ENDING));
}

/** Whether a text has all these words, in whatever form. */
export function hasAll(text: string, words: readonly string[]): boolean {
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(stemOf(word)));
}
