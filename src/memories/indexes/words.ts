import { grow } from "./growing-arrays.ts";
import { type Accepts, largest } from "./largest.ts";
import { createNearWords, MAX_MISSPELT, mayBeNear } from "./near-words.ts";
import { COUNT_BITS, createPostings, MAX_COUNT, type PostingList } from "./postings.ts";
import { askedWords, indexedWords } from "./tokens.ts";

/** A word of a question. */
export interface Term {
  /** From `tokensOf`. */
  readonly token: string;
  /** Its inverse document frequency, times its weight in the question. */
  readonly rareness: number;
  /** The words of the index for which it stands, each with its share of the rareness. */
  readonly forms: readonly { readonly token: string; readonly share: number }[];
}

/** A collection of texts of which an index has only a part. */
export interface Corpus {
  texts: number;
  /** How many of its texts contain a word (from `tokensOf`), about. The index knows it for the other words. */
  textsWith: ReadonlyMap<string, number>;
  /** Similar words of the words that none of its texts has; see `createNearWords`. */
  nearWords: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Some of the texts of an index. */
export interface Among {
  texts: number;
  has(text: number): boolean;
  /** Whether a word counts as unknown if none of them has it. */
  isAll: boolean;
}

/** The constants of BM25, as in LanceDB: how soon repetition saturates, and how much length counts. */
const K1 = 1.2;
const B = 0.75;
/** The largest match of a text with a word. */
export const MAX_MATCHING = K1 + 1;

export type WordIndex = ReturnType<typeof createWordIndex>;

/** An inverted index: texts by their words. Each text has a small whole number. */
export function createWordIndex() {
  /** Words of each text, and of all texts. */
  let lengths = new Int32Array(0);
  const total = { texts: 0, words: 0 };
  let scores = new Float32Array(0);
  /** By text: its place among the texts that are matched, plus 1. */
  let places = new Int32Array(0);
  const postings = createPostings((word) => near.add(word));
  const near = createNearWords(postings.words);

  // The length of "to-do" is 0: two stop words, and "todo" as another spelling of them.
  const averageLength = () => Math.max(1, total.words) / total.texts;

  const rarenessOf = (token: string, corpus: Corpus | undefined, among: Among | undefined) => {
    const texts = corpus?.texts ?? among?.texts ?? total.texts;
    const own = () => (among ? countAmong(postings.of(token), among) : postings.of(token).length);
    // A corpus may still count texts that were removed or replaced. Rareness must not be negative.
    const textsWith = Math.min(corpus?.textsWith.get(token) ?? own(), texts);
    return Math.log(1 + (texts - textsWith + 0.5) / (textsWith + 0.5));
  };

  return {
    get bytes() {
      const numbers = lengths.length + scores.length + places.length;
      return postings.bytes + near.bytes + 4 * numbers;
    },

    /** Adds a text whose number is free. */
    put(text: number, content: string): void {
      const { tokens, length } = indexedWords(content);
      for (const [token, times] of countsOf(tokens)) postings.add(token, postingOf(text, times));
      lengths = grow(lengths, text + 1);
      lengths[text] = length;
      total.texts++;
      total.words += length;
    },

    /** @param content as it was put */
    remove(text: number, content: string): void {
      const { tokens, length } = indexedWords(content);
      for (const [token, times] of countsOf(tokens)) postings.remove(token, postingOf(text, times));
      total.texts--;
      total.words -= length;
    },

    /**
     * The words of a question, each once. A word that no text has stands for similar words (see `createNearWords`), with
     * smaller weights.
     * @param corpus the collection of which this index is a part
     * @param among the texts in which rareness is measured; by default all texts
     */
    terms(question: string, corpus?: Corpus, among?: Among): Term[] {
      let misspelt = 0;
      const isKnown = (token: string) =>
        among?.isAll ? countAmong(postings.of(token), among) > 0 : postings.words.has(token);
      const nearTo = (token: string) => {
        if (corpus) return corpus.nearWords.get(token);
        if (!mayBeNear(token) || misspelt++ >= MAX_MISSPELT) return null;
        const found = near.to(token);
        return among?.isAll ? new Map([...found].filter(([other]) => isKnown(other))) : found;
      };
      return [...askedWords(question)].map(([token, weight]) => {
        const others = isKnown(token) ? null : nearTo(token);
        const found = others?.size ? [...others] : [[token, 1] as const];
        const forms = found.map(([token, counts]) => ({
          token,
          share: counts * rarenessOf(token, corpus, among),
        }));
        const rarest = Math.max(...forms.map(({ share }) => share));
        return {
          token,
          rareness: weight * rarest,
          forms: forms.map(({ token, share }) => ({ token, share: share / rarest })),
        };
      });
    },

    /** The texts that match terms best, by BM25, the best first. */
    matching(
      terms: readonly Term[],
      { count, accepts }: { count: number; accepts: Accepts },
    ): number[] {
      if (scores.length < lengths.length) scores = new Float32Array(lengths.length);
      const sizes = sizesOf(lengths, averageLength());
      for (const { rareness, forms } of terms) {
        for (const { token, share } of forms) {
          addScores(scores, postings.of(token), rareness * share, sizes);
        }
      }
      const found = largest(scores, lengths.length, count, accepts, 0);
      scores.fill(0);
      return found;
    },

    /**
     * The match of each text with each term: 0 to 2.2, by repetition and length as in BM25. The sum of the matches, each
     * times the term's rareness, is the text's BM25.
     */
    matches(terms: readonly Term[], texts: readonly number[]): Float32Array[] {
      if (places.length < lengths.length) places = new Int32Array(lengths.length);
      for (let place = 0; place < texts.length; place++) places[texts[place] ?? 0] = place + 1;
      // An array for each text: parts of a shared one would take longer to make.
      const found = texts.map(() => new Float32Array(terms.length));
      const sizes = sizesOf(lengths, averageLength());
      for (const [column, { forms }] of terms.entries()) {
        for (const { token, share } of forms) {
          addMatches({ found, places, column }, postings.of(token), share, sizes);
        }
      }
      for (const text of texts) places[text] = 0;
      return found;
    },
  };
}

/** How many of some texts have a word. */
function countAmong({ length, values }: PostingList, among: Among): number {
  let count = 0;
  for (let at = 0; at < length; at++) if (among.has((values[at] ?? 0) >> COUNT_BITS)) count++;
  return count;
}

/** How many words each text has, and what BM25 computes of the average length. */
type Sizes = ReturnType<typeof sizesOf>;

function sizesOf(lengths: Int32Array, averageLength: number) {
  return { lengths, own: K1 * (1 - B), perWord: (K1 * B) / averageLength };
}

/** The BM25 score of a word that a text contains `times` times. */
function matchOf(times: number, text: number, { lengths, own, perWord }: Sizes) {
  return ((K1 + 1) * times) / (times + own + perWord * (lengths[text] ?? 0));
}

/** Adds the score of a word, times a factor, to those of all texts that contain it. */
function addScores(
  scores: Float32Array,
  { length, values }: PostingList,
  factor: number,
  sizes: Sizes,
): void {
  for (let at = 0; at < length; at++) {
    const posting = values[at] ?? 0;
    const text = posting >> COUNT_BITS;
    scores[text] = (scores[text] ?? 0) + factor * matchOf(posting & MAX_COUNT, text, sizes);
  }
}

/** Adds the matches of one form of a term to its column. */
function addMatches(
  { found, places, column }: { found: Float32Array[]; places: Int32Array; column: number },
  { length, values }: PostingList,
  share: number,
  sizes: Sizes,
): void {
  for (let at = 0; at < length; at++) {
    const posting = values[at] ?? 0;
    const text = posting >> COUNT_BITS;
    const place = places[text] ?? 0;
    // Most texts have none. To ask an array for its element -1 would be slow.
    const matches = place > 0 ? found[place - 1] : undefined;
    if (!matches) continue;
    const match = share * matchOf(posting & MAX_COUNT, text, sizes);
    matches[column] = Math.min(MAX_MATCHING, (matches[column] ?? 0) + match);
  }
}

function postingOf(text: number, times: number): number {
  return (text << COUNT_BITS) | Math.min(times, MAX_COUNT);
}

function countsOf(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
