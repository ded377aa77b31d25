import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Encoding } from "@anush008/tokenizers";
import { unitsOf } from "../text/short-text.ts";
import { STOP_WORDS } from "../text/stop-words.ts";

export interface Token {
  /** Its index among all tokens, including the special ones. */
  readonly place: number;
  /** Its index in the vocabulary, where frequent tokens come first. */
  readonly id: number;
  /** The part of the word, without marks. */
  readonly piece: string;
  /** The word of the text that it belongs to, in lower case. */
  readonly word: string;
}

const STOP = new Set(STOP_WORDS);
const LETTER = /[\p{L}\p{N}]/u;
/** The mark of pieces that continue a word (WordPiece) or begin one (SentencePiece). */
const MARK = /^(##|▁)/;
/** Tokens for texts that the vocabulary lacks, in WordPiece and SentencePiece. */
const UNKNOWN = ["[UNK]", "<unk>"];
/** From the first letter or digit to the last one. It backtracks one step at a time: linear time. */
const WORD_CORE = /[\p{L}\p{N}](?:.*[\p{L}\p{N}])?/su;

/**
 * All tokens of a text except the special ones.
 * @param from the UTF-16 unit of the first token that is returned
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
    const word = WORD_CORE.exec(whole.toLowerCase())?.[0] ?? "";
    for (let place = first; place < end; place++) {
      const piece = (pieces[place] ?? "").replace(MARK, "");
      tokens.push({ place, id: ids[place] ?? 0, piece, word });
    }
  }
  return tokens;
}

function isUnknown(piece: string): boolean {
  return UNKNOWN.includes(piece);
}

/**
 * The tokens that say what a text is about: no stop words, punctuation or unknown tokens.
 * @param empty further words that say nothing
 */
export function contentTokens(
  tokens: readonly Token[],
  empty: ReadonlySet<string> = new Set(),
): Token[] {
  const isEmpty = (word: string) => STOP.has(word) || empty.has(word);
  return tokens.filter(
    ({ piece, word }) => LETTER.test(piece) && !isUnknown(piece) && !isEmpty(word),
  );
}

/**
 * Chooses tokens of a text. Each distinct piece is chosen once before any is chosen twice, rare ones first.
 * They are returned in the order of the text.
 * @param max maximum number of tokens
 */
export function chooseTokens(tokens: readonly Token[], max: number): Token[] {
  if (tokens.length <= max) return [...tokens];
  const times = new Map<number, number>();
  const ranked = tokens.map((token) => {
    const before = times.get(token.id) ?? 0;
    times.set(token.id, before + 1);
    return { token, before };
  });
  return ranked
    .sort((a, b) => a.before - b.before || b.token.id - a.token.id)
    .slice(0, max)
    .map(({ token }) => token)
    .sort((a, b) => a.place - b.place);
}

/** Scripts other than Latin. A script is referred to by its index, an unlisted one by −1. */
const SCRIPTS = [
  ...["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Cyrillic", "Greek", "Arabic", "Hebrew"],
  ...["Devanagari", "Bengali", "Tamil", "Telugu", "Georgian", "Armenian"],
].map((name) => new RegExp(`^\\p{Script=${name}}`, "u"));
const OTHER_LETTER = /^(?!\p{Script=Latin})[\p{L}\p{M}]/u;
const PUNCTUATION = /^[\p{P}\s]*$/u;
/**
 * Minimum pieces of a script in the vocabulary of a model that was trained on it. BERT's English vocabulary
 * has 494 Han characters and fewer than 100 pieces of any other script. A trained model has thousands.
 */
const MIN_TRAINED_PIECES = 1_000;

/** The index of a letter's script; null for Latin and for other characters than letters. */
function scriptOf(piece: string): number | null {
  if (!OTHER_LETTER.test(piece)) return null;
  return SCRIPTS.findIndex((script) => script.test(piece));
}

/** The scripts besides Latin that a model was trained on, according to its vocabulary. */
export async function readScripts(folder: string): Promise<ReadonlySet<number>> {
  const { model } = JSON.parse(await readFile(join(folder, "tokenizer.json"), "utf8"));
  // Unigram (SentencePiece) has pairs of a piece and its score.
  const pieces: string[] = Array.isArray(model.vocab)
    ? model.vocab.map(([piece]: [string]) => piece)
    : Object.keys(model.vocab ?? {});
  const counts = new Map<number, number>();
  for (const piece of pieces) {
    const script = scriptOf(piece.replace(MARK, ""));
    if (script !== null) counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  return new Set(
    [...counts].filter(([, count]) => count >= MIN_TRAINED_PIECES).map(([script]) => script),
  );
}

/**
 * The share of tokens that a model understands: neither unknown nor single characters of a script that it
 * was not trained on. Punctuation does not count.
 * @param scripts reads the scripts that it was trained on; called only when needed
 */
export async function understoodShare(
  tokens: readonly Token[],
  scripts: () => Promise<ReadonlySet<number>>,
): Promise<number> {
  const counted = tokens.filter(({ piece }) => !PUNCTUATION.test(piece));
  let understood = counted.length;
  for (const { piece } of counted) {
    const script = [...piece].length === 1 ? scriptOf(piece) : null;
    if (isUnknown(piece) || (script !== null && !(await scripts()).has(script))) understood--;
  }
  return counted.length === 0 ? 1 : understood / counted.length;
}
