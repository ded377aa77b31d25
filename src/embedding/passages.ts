import type { Encoding } from "@anush008/tokenizers";
import { unitsOf } from "../code-points.ts";

/** A part of a text that the model reads at once. */
export interface Passage {
  readonly text: string;
  /** Where it begins in the whole text, in UTF-16 units. */
  readonly start: number;
}

/** The limits of a passage, in tokens without the special ones. */
export interface PassageLimits {
  /** A text of at most this many is one passage. */
  readonly window: number;
  /** The most that a passage of a longer text has. */
  readonly tokens: number;
  /** The most that it shares with the passage before it. */
  readonly overlap: number;
}

/**
 * Cuts a text into passages at word boundaries, after the end of a sentence where one is near; they
 * overlap and together cover all of it. Each has at most the given number of tokens when it is
 * tokenised alone: WordPiece reads word by word, and its words are never cut. A word of more than 100
 * characters is one unknown token to it, so text without spaces is hardly told apart.
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

/** The beginning of a text, as much of it as a window of so many tokens holds. */
export function firstPassage(text: string, encoding: Encoding, window: number): string {
  if (encoding.getLength() <= window) return text;
  const words = readWords(text, encoding);
  return text.slice(0, at(words.starts, lastWithin(words, 0, window)));
}

/**
 * Tokens that a word has at the most. Models of many languages (Unigram) take all between two spaces for
 * one, a page of Chinese say: such a word is cut at its tokens. WordPiece knows none of so many letters.
 */
const LONGEST_WORD = 100;

/** Where each word starts, in the text and among the tokens; both rows close with the end. */
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
      const isLong = (lengths.get(ids[token]) ?? 0) > LONGEST_WORD;
      // Several tokens may stand for one character.
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

/** The word before which a passage ends: the last that fits, or the end of a sentence near it. */
function passageEnd(text: string, words: Words, first: number, tokens: number): number {
  const last = lastWithin(words, first, tokens);
  if (last === words.count) return last;
  const enough = lastWithin(words, first, Math.floor(tokens * 0.75));
  for (let end = last; end > enough; end--) {
    const start = at(words.starts, end);
    if (SENTENCE_END.test(text.slice(Math.max(0, start - 8), start))) return end;
  }
  return last;
}

/** The word after the last that fits into so many tokens from `first` on; one word always fits. */
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
