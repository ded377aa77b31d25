import { growInts } from "./grow.ts";
import { type Accepts, largest } from "./largest.ts";
import { tokensOf } from "./tokens.ts";

/** An inverted index: texts by their words. Each text has a small whole number. */
export interface WordIndex {
  /** Bytes of memory that it takes, about. */
  readonly bytes: number;
  /** Adds a text whose number has none. */
  put(text: number, content: string): void;
  /** @param content as it was put */
  remove(text: number, content: string): void;
  /**
   * The texts that match some words best, by BM25, the best first, with their scores.
   * @param corpus what it is a part of
   */
  matching(
    words: string,
    { count, accepts, corpus }: { count: number; accepts: Accepts; corpus?: Corpus | undefined },
  ): Map<number, number>;
}

/** A collection of texts of which an index has only a part. */
export interface Corpus {
  texts: number;
  /** In how many of its texts a word (as `tokensOf` has it) is; those not named are as the index has them. */
  textsWith: ReadonlyMap<string, number>;
}

/** Texts with a word. Most words are in one text only, which is a posting without a list. */
type Postings = number | List;
interface List {
  length: number;
  values: Int32Array<ArrayBuffer>;
}

/** Of BM25, as LanceDB has them: how soon repetition counts no more, and how much length does. */
const K1 = 1.2;
const B = 0.75;
/** A posting is a text's number and, in its lower bits, how often the word is there. */
const COUNT_BITS = 8;
const MOST_COUNTED = (1 << COUNT_BITS) - 1;
/** Bytes of a word with its entry in the map, and of a list of postings besides these. */
const WORD = 100;
const LIST = 120;
const POSTING = 4;
/** Lists are cut when they use so little of their room. */
const USED = 1 / 4;

export function createWordIndex(): WordIndex {
  const terms = new Map<string, Postings>();
  /** Words of each text, and of all. */
  let lengths = new Int32Array(0);
  let scores = new Float32Array(0);
  const total = { texts: 0, words: 0, listed: 0 };

  const add = (token: string, posting: number) => {
    const known = terms.get(token);
    if (known === undefined) terms.set(token, posting);
    else if (typeof known === "number") {
      terms.set(token, { length: 2, values: Int32Array.of(known, posting, 0, 0) });
      total.listed += 4 * POSTING + LIST;
    } else {
      resize(known, growInts(known.values, known.length + 1));
      known.values[known.length++] = posting;
    }
  };

  const drop = (token: string, posting: number) => {
    const known = terms.get(token);
    if (known === undefined || typeof known === "number") {
      terms.delete(token);
      return;
    }
    const { values } = known;
    values[values.indexOf(posting)] = values[--known.length] ?? 0;
    if (known.length === 0) {
      terms.delete(token);
      total.listed -= values.length * POSTING + LIST;
    } else if (known.length < USED * values.length) {
      resize(known, values.slice(0, 2 * known.length));
    }
  };

  const resize = (postings: List, values: Int32Array<ArrayBuffer>) => {
    total.listed += (values.length - postings.values.length) * POSTING;
    postings.values = values;
  };

  return {
    get bytes() {
      return terms.size * WORD + total.listed + 4 * (lengths.length + scores.length);
    },

    put(text, content) {
      const tokens = tokensOf(content);
      for (const [token, times] of countsOf(tokens)) add(token, postingOf(text, times));
      lengths = growInts(lengths, text + 1);
      lengths[text] = tokens.length;
      total.texts++;
      total.words += tokens.length;
    },

    remove(text, content) {
      const tokens = tokensOf(content);
      for (const [token, times] of countsOf(tokens)) drop(token, postingOf(text, times));
      total.texts--;
      total.words -= tokens.length;
    },

    matching(words, { count, accepts, corpus }) {
      if (scores.length < lengths.length) scores = new Float32Array(lengths.length);
      const texts = corpus?.texts ?? total.texts;
      for (const token of tokensOf(words)) {
        const known = terms.get(token);
        if (known === undefined) continue;
        const postings =
          typeof known === "number" ? { length: 1, values: Int32Array.of(known) } : known;
        const textsWith = corpus?.textsWith.get(token) ?? postings.length;
        const rareness = Math.log(1 + (texts - textsWith + 0.5) / (textsWith + 0.5));
        addScores(scores, postings, { rareness, lengths, average: total.words / total.texts });
      }
      const isAccepted = (text: number) =>
        (scores[text] ?? 0) > 0 && (accepts === null || accepts(text));
      const found = largest(scores, lengths.length, count, isAccepted);
      const matching = new Map(found.map((text) => [text, scores[text] ?? 0]));
      scores.fill(0);
      return matching;
    },
  };
}

/** Adds what a word is worth to the scores of the texts that have it. */
function addScores(
  scores: Float32Array,
  { length, values }: List,
  { rareness, lengths, average }: { rareness: number; lengths: Int32Array; average: number },
): void {
  const most = rareness * (K1 + 1);
  const perWord = (K1 * B) / average;
  for (let at = 0; at < length; at++) {
    const posting = values[at] ?? 0;
    const text = posting >> COUNT_BITS;
    const times = posting & MOST_COUNTED;
    const norm = K1 * (1 - B) + perWord * (lengths[text] ?? 0);
    scores[text] = (scores[text] ?? 0) + (most * times) / (times + norm);
  }
}

function postingOf(text: number, times: number): number {
  return (text << COUNT_BITS) | Math.min(times, MOST_COUNTED);
}

function countsOf(tokens: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  return counts;
}
