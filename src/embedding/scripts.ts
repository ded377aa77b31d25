import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isUnknown, MARK, type Token } from "./tokens.ts";

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
