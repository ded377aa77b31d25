import type { Encoding } from "@anush008/tokenizers";
import { unitsOf } from "../code-points.ts";
import { STOP_WORDS } from "../stop-words.ts";

/** A token of a text, as the model reads it. */
export interface Token {
  /** Its place among all tokens, the model's special ones included. */
  readonly place: number;
  /** Its number in the vocabulary, where frequent ones come first. */
  readonly id: number;
  /** What of the word it is, without marks. */
  readonly piece: string;
  /** The word that it belongs to, as it is in the text, in lower case. */
  readonly word: string;
}

const STOP = new Set(STOP_WORDS);
const LETTER = /[\p{L}\p{N}]/u;
/** How pieces are marked that go on with a word (WordPiece), or begin one (SentencePiece). */
export const MARK = /^(##|▁)/;
/** What stands for what a vocabulary lacks, in WordPiece and SentencePiece. */
const UNKNOWN = ["[UNK]", "<unk>"];
/** From the first letter or digit to the last one: one step back at a time, so in linear time. */
const WITHIN_SIGNS = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su;

/**
 * All tokens of a text but the model's special ones.
 * @param from the unit from which on they count
 */
export function tokensOf(text: string, encoding: Encoding, from = 0): Token[] {
  const unitOf = unitsOf(text);
  const [ids, pieces, words] = [encoding.getIds(), encoding.getTokens(), encoding.getWordIds()];
  const [offsets, special] = [encoding.getOffsets(), encoding.getSpecialTokensMask()];
  const tokens: Token[] = [];
  for (let first = 0, end = 0; first < ids.length; first = end) {
    do end++;
    while (end < ids.length && words[end] === words[first] && typeof words[end] === "number");
    const start = unitOf(offsets[first]?.[0] ?? 0);
    if (special[first] || start < from) continue;
    const whole = text.slice(start, unitOf(offsets[end - 1]?.[1] ?? 0));
    const word = WITHIN_SIGNS.exec(whole.toLowerCase())?.[0] ?? "";
    for (let place = first; place < end; place++) {
      const piece = (pieces[place] ?? "").replace(MARK, "");
      tokens.push({ place, id: ids[place] ?? 0, piece, word });
    }
  }
  return tokens;
}

export function isUnknown(piece: string): boolean {
  return UNKNOWN.includes(piece);
}

/** Those that say what a text is about: no stop words, no punctuation, and nothing unknown. */
export function contentTokens(tokens: readonly Token[]): Token[] {
  return tokens.filter(
    ({ piece, word }) => LETTER.test(piece) && !isUnknown(piece) && !STOP.has(word),
  );
}

/**
 * Some of a text's tokens, in order: every piece once before any comes twice, the rarer ones first.
 * @param most how many
 */
export function chooseTokens(tokens: readonly Token[], most: number): Token[] {
  if (tokens.length <= most) return [...tokens];
  const times = new Map<number, number>();
  const ranked = tokens.map((token) => {
    const before = times.get(token.id) ?? 0;
    times.set(token.id, before + 1);
    return { token, before };
  });
  return ranked
    .sort((a, b) => a.before - b.before || b.token.id - a.token.id)
    .slice(0, most)
    .map(({ token }) => token)
    .sort((a, b) => a.place - b.place);
}
