import porter2 from "wink-porter2-stemmer";
import { STOP_WORDS } from "../../stop-words.ts";
import { HAS_UNSPACED, type Unspaced, unspacedWords } from "./unspaced-scripts.ts";

/** What a text is indexed by. */
interface IndexedWords {
  readonly tokens: readonly string[];
  /** How many of them stand in the text; further ones are other spellings of these. */
  readonly length: number;
}

/** Letters and digits that stand together, and those that only `_`, `.` or `-` divides. */
const RUN = /[\p{Alphabetic}\p{M}\p{N}]+/gu;
const JOINED = /[\p{Alphabetic}\p{M}\p{N}]+(?:[_.-][\p{Alphabetic}\p{M}\p{N}]+)*/gu;
const HAS_JOINT = /[_.-]/;
const JOINT = /[_.-]/g;
/** Joined by dots, only versions, addresses and `Node.js` are one word: others are sentences of code. */
const HAS_DOT = /\./;
const DOTTED = /^(v?\d+(\.\d+)+|[^.]+\.[a-z]{2})$/i;
/** Words that need no closer look: most. */
const IS_PLAIN = /^([a-z0-9]+|[A-Z][a-z0-9]+|[A-Z0-9]+)$/;
/** Letters that most programs write composed, or in their usual width. */
const UNUSUAL = /[\u0300-\u036f\u3099\u309a\uff01-\uffef]/;
/** `getUserById` and `HTMLParser`, but not `URLs` and `IPv6`. */
const HUMPED = /\p{Ll}\p{N}*\p{Lu}|\p{Lu}\p{Lu}\p{Ll}{2}/u;
const HUMP = /\p{Lu}+(?!\p{Ll})\p{N}*|\p{Lu}?\p{Ll}+\p{N}*|\p{N}+/gu;
/** Bytes from which on a word is none: a SHA-256 in hex is one. */
export const LONG = 80;
/** What no ending has, but the library cuts off. */
const UNSTEMMED = /\p{N}|u$/u;
/** Words that are left out, once stemmed. */
const STOP_STEMS: ReadonlySet<string> = new Set([...STOP_WORDS, ...STOP_WORDS.map(stem)]);
/** Scripts in which marks above and below a letter may be left out. */
const ACCENTED =
  /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}]/u;
/** Marks, and the spaces that NFKD gives to a mark that stands alone and to a phrase in one letter (ﷺ). */
const MARKS = /[\p{M}\s]/gu;
/** Letters that no accent makes of others. */
const LETTERS: Record<string, string> = {
  ...{ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i", ς: "σ" },
};

/** Stems of words that were met before; to stem one takes ten times as long as to look it up. */
const known = new Map<string, string | null>();
const MOST_KNOWN = 50_000;

/**
 * What an index of words has of a text: lower case, stemmed, without accents and without words that
 * say nothing. Where no spaces tell words apart, their parts (see `unspacedWords`). An identifier
 * comes as a whole, without what joins it, and in its parts: `user_id` and `userId` are the same.
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
 * The words of a question as an index has them, in order, with what each counts for, 0 to 1: parts of words
 * that overlap count less each.
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
  // All at once: one by one they come with two objects each.
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
  // A part of a string keeps all of it in memory.
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
