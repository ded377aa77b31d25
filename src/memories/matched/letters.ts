const UNITS = 1 << 16;
/** Bits of a letter; above them is how many letters are looked for together, see `groupOf`. */
const LETTER_BITS = 16;
const UNKNOWN = -1;

const IS_LETTER = /[\p{Alphabetic}\p{N}]/u;
/** Scripts without spaces whose signs are words or syllables, and those whose signs are sounds. */
const SYLLABLES = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const SOUNDS = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** What was read before, since a regular expression for each letter of a text takes too long. */
const known = new Int32Array(UNITS).fill(UNKNOWN);

/**
 * The letter or digit that a UTF-16 unit is, in lower case and without accents, with its group; 0
 * for what is neither, such as half of a surrogate pair.
 */
export function letterOf(unit: number): number {
  const letter = known[unit] ?? 0;
  return letter === UNKNOWN ? learn(unit) : letter;
}

/**
 * How many letters in a row tell what a text is about, where no spaces tell words apart: Korean is
 * among these scripts, since its words grow endings that no stemmer here cuts off. 0 for all others.
 */
export function groupOf(letter: number): number {
  return letter >> LETTER_BITS;
}

function learn(unit: number): number {
  const sign = String.fromCharCode(unit);
  const letter = SYLLABLES.test(sign)
    ? (2 << LETTER_BITS) | unit
    : SOUNDS.test(sign)
      ? (3 << LETTER_BITS) | unit
      : IS_LETTER.test(sign)
        ? sign.toLowerCase().normalize("NFKD").charCodeAt(0)
        : 0;
  known[unit] = letter;
  return letter;
}
