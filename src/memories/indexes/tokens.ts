import porter2 from "wink-porter2-stemmer";
import { STOP_WORDS } from "../../stop-words.ts";

/** Letters and digits that stand together. */
const RUN = /[\p{Alphabetic}\p{N}]+/gu;
/** Scripts that put no space between words: a dictionary tells them apart. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
/** Bytes from which on a word is none. */
const LONG = 40;
/** What no ending has, but the library cuts off. */
const UNSTEMMED = /\p{N}|u$/u;
/** Words that are left out, once stemmed. */
export const STOP_STEMS: ReadonlySet<string> = new Set([...STOP_WORDS, ...STOP_WORDS.map(stem)]);
/** Letters that no accent makes of others. */
const LETTERS: Record<string, string> = {
  ...{ ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" },
};

const segmenter = new Intl.Segmenter("en", { granularity: "word" });
/** Stems of words that were met before; to stem one takes ten times as long as to look it up. */
const known = new Map<string, string | null>();
const MOST_KNOWN = 50_000;

/**
 * The words of a text as an index of words has them, in order: lower case, stemmed, without accents
 * and without those that say nothing. They are those of LanceDB's index (see `createIndexes` in
 * `base/bases.ts`), so that both find the same.
 */
export function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  forEachToken(text, (token) => tokens.push(token));
  return tokens;
}

/** The same words, each with one that the text has: what is stemmed twice may be another word. */
export function formsOf(text: string): Map<string, string> {
  const forms = new Map<string, string>();
  forEachToken(text, (token, word) => forms.set(token, word));
  return forms;
}

function forEachToken(text: string, task: (token: string, word: string) => void): void {
  const add = (word: string) => {
    const token = tokenOf(word);
    if (token !== null) task(token, word);
  };
  // All at once: one by one they come with two objects each.
  for (const run of text.match(RUN) ?? []) {
    if (!UNSPACED.test(run)) add(run);
    else for (const { segment } of segmenter.segment(run)) add(segment);
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
  const stemmed = stem(word.toLowerCase());
  return STOP_STEMS.has(stemmed) ? null : unaccented(stemmed);
}

function stem(word: string): string {
  return UNSTEMMED.test(word) ? word : porter2(word);
}

function unaccented(word: string): string {
  if (!/[^\0-\x7f]/.test(word) || !/\p{Script=Latin}/u.test(word)) return word;
  return word
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\0-\x7f]/g, (letter) => LETTERS[letter] ?? letter);
}
