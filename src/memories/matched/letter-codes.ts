import { HAS_UNSPACED } from "../indexes/unspaced-scripts.ts";

/** What no letter is: neither a letter nor a digit, an accent that stands alone, see `letterOf`. */
export const NONE = 0;
export const ACCENT = 1;
export const UNSPACED = 2;

const UNITS = 1 << 16;
const UNKNOWN = -1;
const IS_LETTER = /[\p{Alphabetic}\p{N}]/u;
const IS_ACCENT = /\p{M}/u;

/** What was read before, since a regular expression for each letter of a text takes too long. */
const known = new Int32Array(UNITS).fill(UNKNOWN);

/**
 * The letter or digit that a UTF-16 unit is, in lower case and without accents. `UNSPACED` for all of
 * scripts without spaces between words, `NONE` for half of a surrogate pair.
 */
export function letterOf(unit: number): number {
  const letter = known[unit] ?? NONE;
  return letter === UNKNOWN ? learn(unit) : letter;
}

function learn(unit: number): number {
  const letter = read(String.fromCharCode(unit));
  known[unit] = letter;
  return letter;
}

function read(sign: string): number {
  // The mark of a long vowel is of two scripts, so of none.
  if (HAS_UNSPACED.test(sign) || sign === "ー") return UNSPACED;
  if (IS_ACCENT.test(sign)) return ACCENT;
  return IS_LETTER.test(sign) ? sign.toLowerCase().normalize("NFKD").charCodeAt(0) : NONE;
}
