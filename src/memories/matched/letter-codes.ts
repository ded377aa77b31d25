import { HAS_UNSPACED } from "../indexes/unspaced-scripts.ts";

/** Codes of UTF-16 units that are no letter with a code of its own; lower than those of all letters. */
export const NONE = 0;
export const ACCENT = 1;
export const UNSPACED = 2;

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
  // Unicode assigns the long vowel mark to no script, since two scripts use it.
  if (HAS_UNSPACED.test(sign) || sign === "ー") return UNSPACED;
  if (IS_ACCENT.test(sign)) return ACCENT;
  return IS_LETTER.test(sign) ? sign.toLowerCase().normalize("NFKD").charCodeAt(0) : NONE;
}
