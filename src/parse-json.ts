import { CtxdError } from "./errors.ts";

/**
 * Values that a JSON text may contain. A memory with the largest metadata has a quarter of that. Many
 * objects and lists make a text slow to parse and check: a megabyte of them takes 0.1 s.
 */
const MAX_VALUES = 10_000;

const [QUOTE, BACKSLASH, COMMA, BRACE, BRACKET] = [0x22, 0x5c, 0x2c, 0x7b, 0x5b];

/** A JSON text has more than `MAX_VALUES` values. */
export class TooManyValues extends CtxdError {
  override readonly name = "TooManyValues";
  readonly code = "too_many_json_values";
}

/**
 * Parses untrusted JSON.
 * @throws SyntaxError, or TooManyValues before anything is parsed
 */
export function parseJson(text: string): unknown {
  if (hasMoreValues(text, MAX_VALUES)) {
    throw new TooManyValues(`a JSON text with more than ${MAX_VALUES} values`);
  }
  return JSON.parse(text);
}

function hasMoreValues(text: string, most: number): boolean {
  // Each value takes at least two characters, so most texts need no count.
  if (text.length < 2 * most) return false;
  let count = 0;
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) inString = !inString;
    else if (inString) index += character === BACKSLASH ? 1 : 0;
    else if (character === COMMA || character === BRACE || character === BRACKET) count++;
    if (count > most) return true;
  }
  return false;
}
