import porter2 from "wink-porter2-stemmer";
import { STOP_WORDS } from "../../text/stop-words.ts";
import { HAS_UNSPACED, type Unspaced, unspacedWords } from "./unspaced-scripts.ts";

/** The words of a text as an index has them. */
interface IndexedWords {
  readonly tokens: readonly string[];
  /** How many of them the text contains. The others are further spellings of these. */
  readonly length: number;
}

/** Runs of letters and digits, and runs that are joined by `_`, `.` or `-`. */
const RUN = /[\p{Alphabetic}\p{M}\p{N}]+/gu;
const JOINED = /[\p{Alphabetic}\p{M}\p{N}]+(?:[_.-][\p{Alphabetic}\p{M}\p{N}]+)*/gu;
const HAS_JOINT = /[_.-]/;
const JOINT = /[_.-]/g;
/** Joined by dots, only versions, addresses and names such as `Node.js` are one word. Others are code. */
const HAS_DOT = /\./;
const DOTTED = /^(v?\d+(\.\d+)+|[^.]+\.[a-z]{2})$/i;
/** Most words: they have no parts. */
const IS_PLAIN = /^([a-z0-9]+|[A-Z][a-z0-9]+|[A-Z0-9]+)$/;
/** Decomposed letters and letters of unusual width. NFKC replaces them. */
const UNUSUAL = /[\u0300-\u036f\u3099\u309a\uff01-\uffef]/;
/** `getUserById` and `HTMLParser`, but not `URLs` and `IPv6`. */
const HUMPED = /\p{Ll}\p{N}*\p{Lu}|\p{Lu}\p{Lu}\p{Ll}{2}/u;
const HUMP = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?\p{Ll}+\p{N}*|\p{N}+/gu;
/** Longer runs, in bytes, are not indexed. A SHA-256 in hexadecimal is indexed. */
export const LONG = 80;
/** Words that the stemmer would shorten wrongly. */
const UNSTEMMED = /\p{N}|u$/u;
/** Stop words, also stemmed. */
const STOP_STEMS: ReadonlySet<string> = new Set([...STOP_WORDS, ...STOP_WORDS.map(stem)]);
/** Scripts in which marks above and below a letter may be left out. */
const ACCENTED =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]/u;
/** Marks, and the spaces that NFKD makes of a single mark or of a letter that is a phrase (ﷺ). */
const MARKS = /[\p{M}\s]/gu;
/** Letters that NFKD does not decompose. */
// biome-ignore format: one line reads better
const LETTERS: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ" };

/** A cache of stems. Stemming takes ten times as long as a look-up. */
const known = new Map<string, string | null>();
const MOST_KNOWN = 50_000;

/**
 * The words of a text as an index has them: in lower case, stemmed, without accents and without stop words. For
 * scripts without spaces, see `unspacedWords`. An identifier is indexed as a whole, without the characters that
 * join it, and in its parts: `user_id` and `userId` are the same.
 */
export function indexedWords(text: string): IndexedWords {
  const tokens: string[] = [];
  let length = 0;
  forEachToken(text, (token, _, isFurther) => {
    tokens.push(token);
    if (!isFurther) length++;
  });
  return { tokens, length };
}

/**
 * The words of a question as an index has them, in order, with their weights, 0 to 1. Overlapping parts of words have
 * smaller weights.
 */
export function askedWords(question: string): Map<string, number> {
  const weights = new Map<string, number>();
  forEachToken(question, (token, weight) => weights.set(token, weight));
  return weights;
}

/** All words of a text as an index has them, in order. */
export function tokensOf(text: string): readonly string[] {
  return indexedWords(text).tokens;
}

type Task = (token: string, weight: number, isFurther: boolean) => void;

function forEachToken(text: string, task: Task): void {
  const add = (word: string, isFurther: boolean) => {
    const token = tokenOf(word);
    if (token !== null) task(token, 1, isFurther);
  };
  const addUnspaced = ({ word, isGram, isFurther, weight }: Unspaced) => {
    if (isGram) task(word, weight, isFurther);
    else add(word, isFurther);
  };
  const addRun = (run: string) => {
    if (IS_PLAIN.test(run)) return add(run, false);
    if (HAS_UNSPACED.test(run)) return unspacedWords(run).forEach(addUnspaced);
    add(run, false);
    if (!HUMPED.test(run)) return;
    for (const part of run.match(HUMP) ?? []) if (part.length > 1) add(part, true);
  };
  const plain = UNUSUAL.test(text) ? text.normalize("NFKC") : text;
  // `match` instead of `matchAll`, which makes two more objects for each match.
  for (const joined of plain.match(JOINED) ?? []) {
    if (!HAS_JOINT.test(joined)) {
      addRun(joined);
      continue;
    }
    for (const run of joined.match(RUN) ?? []) addRun(run);
    const isOne = !HAS_DOT.test(joined) || DOTTED.test(joined);
    if (isOne && !HAS_UNSPACED.test(joined)) add(joined.replace(JOINT, ""), true);
  }
}

function tokenOf(word: string): string | null {
  const found = known.get(word);
  if (found !== undefined) return found;
  if (Buffer.byteLength(word) >= LONG) return null;
  // A copy, since a part of a string keeps the whole string in memory.
  const own = Buffer.from(word).toString();
  const token = stemmed(own);
  if (known.size >= MOST_KNOWN) known.clear();
  known.set(own, token);
  return token;
}

function stemmed(word: string): string | null {
  const token = stem(unaccented(word.toLowerCase()));
  return token === "" || STOP_STEMS.has(token) ? null : token;
}

function stem(word: string): string {
  return UNSTEMMED.test(word) ? word : porter2(word);
}

function unaccented(word: string): string {
  if (!/[^\0-\x7f]/.test(word) || !ACCENTED.test(word)) return word;
  return word
    .normalize("NFKD")
    .replace(MARKS, "")
    .replace(/[^\0-\x7f]/g, (letter) => LETTERS[letter] ?? letter);
}
