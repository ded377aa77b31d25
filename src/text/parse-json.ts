/**
 * Values that a JSON text may contain. A memory with the largest metadata has a quarter of that. Many
 * objects and lists make a text slow to parse and check: a megabyte of them takes 0.1 s.
 */
const MAX_VALUES = 10_000;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACE, END_BRACE, BRACKET, END_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d];

/** The value of a JSON text; undefined when it is invalid. For texts of a limited size. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Whether an untrusted JSON text has more values than `values`, or nests them deeper than `depth`. Nothing is parsed for
 * this.
 */
export function isBeyond(text: string, { values = MAX_VALUES, depth = MAX_VALUES } = {}): boolean {
  // Each value takes at least two characters, so most texts need no count.
  if (text.length < 2 * Math.min(values, depth)) return false;
  let [count, level] = [0, 0];
  let inString = false;
  for (let index = 0; index < text.length; index++) {
    const character = text.charCodeAt(index);
    if (character === QUOTE) inString = !inString;
    else if (inString) index += character === BACKSLASH ? 1 : 0;
    else if (character === COMMA) count++;
    else if (character === BRACE || character === BRACKET) {
      count++;
      level++;
    } else if (character === END_BRACE || character === END_BRACKET) level--;
    if (count > values || level > depth) return true;
  }
  return false;
}

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a text with more than white space. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Values of an entry, and how deep they are nested. A conversation of ten thousand messages has less. Each value takes
 * memory, however short its text is, and what walks through deep ones runs out of stack.
 */
export const ENTRY_LIMITS = { values: 1_000_000, depth: 500 };

/** Parses JSON; null when it is invalid, no object, or beyond `ENTRY_LIMITS`. */
export function parseObject(text: string): JsonObject | null {
  const value = isBeyond(text, ENTRY_LIMITS) ? null : parsed(text);
  return isObject(value) ? value : null;
}
