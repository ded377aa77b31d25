import type { Encoding } from "@anush008/tokenizers";
import { unitsOf } from "../text/short-text.ts";

/** A part of a text that is embedded in one run. */
export interface Passage {
  readonly text: string;
  /** Its start in the whole text, in UTF-16 units. */
  readonly start: number;
}

/** The limits of passages, in tokens without the special ones. */
interface PassageLimits {
  /** A text with at most this many tokens is one passage. */
  readonly window: number;
  /** Maximum tokens of a passage of a longer text. */
  readonly tokens: number;
  /** Maximum tokens that it shares with the previous passage. */
  readonly overlap: number;
}

/**
 * Splits a text into passages at word boundaries, preferably after the end of a sentence. They overlap and
 * together cover the whole text. Each has at most the given number of tokens when it is tokenized alone,
 * because WordPiece reads word by word and its words are never split. To WordPiece a word of more than 100
 * characters is one unknown token, so texts without spaces are hardly distinguished.
 */
export function splitPassages(text: string, encoding: Encoding, limits: PassageLimits): Passage[] {
  if (encoding.getLength() <= limits.window) return [{ text, start: 0 }];
  const words = readWords(text, encoding);
  const passages: Passage[] = [];
  let first = 0;
  for (;;) {
    const end = passageEnd(text, words, first, limits.tokens);
    const start = at(words.starts, first);
    passages.push({ text: text.slice(start, at(words.starts, end)), start });
    if (end === words.count) return passages;
    first = nextStart(words, first, end, limits.overlap);
  }
}

/** The beginning of a text that fits a window of tokens. */
export function firstPassage(text: string, encoding: Encoding, window: number): string {
  if (encoding.getLength() <= window) return text;
  const words = readWords(text, encoding);
  return text.slice(0, at(words.starts, lastWithin(words, 0, window)));
}

/**
 * Maximum tokens of a word. Multilingual models (Unigram) take all text between two spaces for one word,
 * for example a page of Chinese. Such a word is split at its tokens. WordPiece has no words this long.
 */
const MAX_WORD_TOKENS = 100;

/** The start of each word, in the text and among the tokens. Both lists end with the end of the text. */
interface Words {
  readonly count: number;
  readonly starts: readonly number[];
  readonly tokens: readonly number[];
}

function readWords(text: string, encoding: Encoding): Words {
  const offsets = encoding.getOffsets();
  const ids = encoding.getWordIds();
  const starts: number[] = [];
  const tokens: number[] = [];
  const unitOf = unitsOf(text);
  const lengths = new Map<number | null | undefined, number>();
  for (const id of ids) lengths.set(id, (lengths.get(id) ?? 0) + 1);
  for (const [token, offset] of offsets.entries()) {
    const start = token === 0 ? 0 : unitOf(at(offset, 0));
    if (token > 0 && ids[token] === ids[token - 1]) {
      const isLong = (lengths.get(ids[token]) ?? 0) > MAX_WORD_TOKENS;
      // Several tokens may represent one character.
      if (!isLong || start <= at(starts, starts.length - 1)) continue;
    }
    starts.push(start);
    tokens.push(token);
  }
  return {
    count: starts.length,
    starts: [...starts, text.length],
    tokens: [...tokens, offsets.length],
  };
}

const SENTENCE_END = /[.!?。！？\n]["'”’)\]]*\s*$/;

/** Index after the last word of a passage: the last that fits, or the end of a sentence near it. */
function passageEnd(text: string, words: Words, first: number, tokens: number): number {
  const last = lastWithin(words, first, tokens);
  if (last === words.count) return last;
  const earliest = lastWithin(words, first, Math.floor(tokens * 0.75));
  for (let end = last; end > earliest; end--) {
    const start = at(words.starts, end);
    if (SENTENCE_END.test(text.slice(Math.max(0, start - 8), start))) return end;
  }
  return last;
}

/** Index after the last word that fits into `tokens` from `first` on. One word always fits. */
function lastWithin(words: Words, first: number, tokens: number): number {
  const limit = at(words.tokens, first) + tokens;
  let end = first + 1;
  while (end < words.count && at(words.tokens, end + 1) <= limit) end++;
  return end;
}

function nextStart(words: Words, first: number, end: number, overlap: number): number {
  const limit = at(words.tokens, end) - overlap;
  let start = end;
  while (start - 1 > first && at(words.tokens, start - 1) >= limit) start--;
  return start;
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? 0;
}
