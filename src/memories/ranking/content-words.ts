import { STOP_WORDS } from "../../text/stop-words.ts";

const STOP = new Set(STOP_WORDS);
const WORD = /[\p{L}\p{N}]+/gu;

/** The content words of a text, in lower case and in their order. */
export function contentWords(text: string): string[] {
  return (text.toLowerCase().match(WORD) ?? []).filter((word) => !STOP.has(word));
}

/** Most letters of an ending, and fewest letters of a stem. */
const ENDING = 3;
const STEM = 4;

/** An approximate stem: the start that the forms of a word share. */
export function stemOf(word: string): string {
  return word.slice(0, Math.max(STEM, word.length - ENDING));
}
