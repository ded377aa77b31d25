import { STOP_WORDS } from "../../stop-words.ts";

const STOP = new Set(STOP_WORDS);
const WORD = /[\p{L}\p{N}]+/gu;

/** The words of a text that say what it is about, in lower case, in order. */
export function contentWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((word) => !STOP.has(word));
}

/** Letters that an ending has at the most, and those that a stem keeps at the least. */
const ENDING = 3;
const STEM = 4;

/** The start of a word that its other forms share, about. */
export function stemOf(word: string): string {
  return word.slice(0, Math.max(STEM, word.length - ENDING));
}
