import { growInts } from "./growing-arrays.ts";
import { type Accepts, largest } from "./largest.ts";
import { createNearWords, MOST_MISSPELT, mayBeNear } from "./near-words.ts";
import { askedWords, indexedWords } from "./tokens.ts";

/** An inverted index: texts by their words. Each text has a small whole number. */
export interface WordIndex {
  /** Bytes of memory that it takes, about. */
  readonly bytes: number;
  /** Adds a text whose number has none. */
  put(text: number, content: string): void;
  /** @param content as it was put */
  remove(text: number, content: string): void;
  /**
   * The words of a question, each once. One that no text has stands for those like it (see
   * `NearWords`), which count for less.
   * @param corpus what it is a part of
   * @param among the texts by which a word is rare; all by default
   */
  terms(question: string, corpus?: Corpus, among?: Among): Term[];
  /** The texts that match terms best, by BM25, the best first. */
  matching(
    terms: readonly Term[],
    { count, accepts }: { count: number; accepts: Accepts },
  ): number[];
  /**
   * How much each text has of each term: 0 for none, up to 2.2, as BM25 counts repetition and length.
   * The sum of these by the terms' rareness is a text's BM25.
   */
  matches(terms: readonly Term[], texts: readonly number[]): Float32Array[];
}

/** A word of a question. */
export interface Term {
  /** As `tokensOf` has it. */
  readonly token: string;
  /** Its inverse document frequency, times what it counts for in the question. */
  readonly rareness: number;
  /** What it stands for in the index, and the share of its rareness that each of these has. */
  readonly forms: readonly { readonly token: string; readonly share: number }[];
}

/** A collection of texts of which an index has only a part. */
export interface Corpus {
  texts: number;
  /** In how many of its texts a word (as `tokensOf` has it) is; those not named are as the index has them. */
  textsWith: ReadonlyMap<string, number>;
  /** What the words that none of its texts has may stand for; see `NearWords`. */
  nearWords: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

/** Some of the texts of an index. */
export interface Among {
  texts: number;
  has(text: number): boolean;
  /** Whether a word that none of them has is unknown. */
  isAll: boolean;
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
/** What BM25 makes of a text that has nothing but a word, however often. */
export const MOST_MATCHING = K1 + 1;
/** A posting is a text's number and, in its lower bits, how often the word is there. */
const COUNT_BITS = 8;
const MOST_COUNTED = (1 << COUNT_BITS) - 1;
/** Bytes of a word with its entry in the map, and of a list of postings besides these. */
const WORD = 100;
const LIST = 120;
const POSTING = 4;
/** Lists are cut when they use so little of their room. */
const USED = 1 / 4;
const NONE: List = { length: 0, values: new Int32Array(0) };

export function createWordIndex(): WordIndex {
  const postings = new Map<string, Postings>();
  /** Words of each text, and of all. */
  let lengths = new Int32Array(0);
  let scores = new Float32Array(0);
  /** By text: its place among those that are looked at, and 1. */
  let places = new Int32Array(0);
  const total = { texts: 0, words: 0, listed: 0 };
  const near = createNearWords(postings);

  const add = (token: string, posting: number) => {
    const known = postings.get(token);
    if (known === undefined) {
      postings.set(token, posting);
      near.add(token);
    } else if (typeof known === "number") {
      postings.set(token, { length: 2, values: Int32Array.of(known, posting, 0, 0) });
      total.listed += 4 * POSTING + LIST;
    } else {
      resize(known, growInts(known.values, known.length + 1));
      known.values[known.length++] = posting;
    }
  };

  const drop = (token: string, posting: number) => {
    const known = postings.get(token);
    if (known === undefined || typeof known === "number") {
      postings.delete(token);
      return;
    }
    const { values } = known;
    values[values.indexOf(posting)] = values[--known.length] ?? 0;
    if (known.length === 0) {
      postings.delete(token);
      total.listed -= values.length * POSTING + LIST;
    } else if (known.length < USED * values.length) {
      resize(known, values.slice(0, 2 * known.length));
    }
  };

  const resize = (list: List, values: Int32Array<ArrayBuffer>) => {
    total.listed += (values.length - list.values.length) * POSTING;
    list.values = values;
  };

  // The length of "to-do" is 0: two stop words, and "todo" as another spelling of them.
  const averageLength = () => Math.max(1, total.words) / total.texts;

  const postingsOf = (token: string): List => {
    const known = postings.get(token) ?? NONE;
    return typeof known === "number" ? { length: 1, values: Int32Array.of(known) } : known;
  };

  const countAmong = (token: string, among: Among) => {
    const { length, values } = postingsOf(token);
    let count = 0;
    for (let at = 0; at < length; at++) if (among.has((values[at] ?? 0) >> COUNT_BITS)) count++;
    return count;
  };

  const rarenessOf = (token: string, corpus: Corpus | undefined, among: Among | undefined) => {
    const texts = corpus?.texts ?? among?.texts ?? total.texts;
    const own = () => (among ? countAmong(token, among) : postingsOf(token).length);
    const textsWith = corpus?.textsWith.get(token) ?? own();
    return Math.log(1 + (texts - textsWith + 0.5) / (textsWith + 0.5));
  };

  return {
    get bytes() {
      const numbers = lengths.length + scores.length + places.length;
      return postings.size * WORD + near.bytes + total.listed + 4 * numbers;
    },

    put(text, content) {
      const { tokens, length } = indexedWords(content);
      for (const [token, times] of countsOf(tokens)) add(token, postingOf(text, times));
      lengths = growInts(lengths, text + 1);
      lengths[text] = length;
      total.texts++;
      total.words += length;
    },

    remove(text, content) {
      const { tokens, length } = indexedWords(content);
      for (const [token, times] of countsOf(tokens)) drop(token, postingOf(text, times));
      total.texts--;
      total.words -= length;
    },

    terms(question, corpus, among) {
      let misspelt = 0;
      const isKnown = (token: string) =>
        among?.isAll ? countAmong(token, among) > 0 : postings.has(token);
      const nearTo = (token: string) => {
        if (corpus) return corpus.nearWords.get(token);
        if (!mayBeNear(token) || misspelt++ >= MOST_MISSPELT) return null;
        const found = near.to(token);
        return among?.isAll ? new Map([...found].filter(([other]) => isKnown(other))) : found;
      };
      return [...askedWords(question)].map(([token, weight]) => {
        const others = isKnown(token) ? null : nearTo(token);
        if (!others || others.size === 0) {
          const rareness = weight * rarenessOf(token, corpus, among);
          return { token, rareness, forms: [{ token, share: 1 }] };
        }
        const forms = [...others].map(([other, counts]) => ({
          token: other,
          share: counts * rarenessOf(other, corpus, among),
        }));
        const rarest = Math.max(...forms.map(({ share }) => share));
        return {
          token,
          rareness: weight * rarest,
          forms: forms.map(({ token, share }) => ({ token, share: share / rarest })),
        };
      });
    },

    matching(terms, { count, accepts }) {
      if (scores.length < lengths.length) scores = new Float32Array(lengths.length);
      const norms = normsOf(averageLength());
      for (const { rareness, forms } of terms) {
        for (const { token, share } of forms) {
          addScores(scores, postingsOf(token), { rareness: rareness * share, lengths, norms });
        }
      }
      const isAccepted = (text: number) =>
        (scores[text] ?? 0) > 0 && (accepts === null || accepts(text));
      const found = largest(scores, lengths.length, count, isAccepted);
      scores.fill(0);
      return found;
    },

    matches(terms, texts) {
      if (places.length < lengths.length) places = new Int32Array(lengths.length);
      for (const [place, text] of texts.entries()) places[text] = place + 1;
      const columns = terms.length;
      const found = new Float32Array(texts.length * columns);
      const norms = normsOf(averageLength());
      for (const [column, { forms }] of terms.entries()) {
        for (const { token, share } of forms) {
          const { length, values } = postingsOf(token);
          for (let at = 0; at < length; at++) {
            const posting = values[at] ?? 0;
            const text = posting >> COUNT_BITS;
            const place = (places[text] ?? 0) - 1;
            if (place < 0) continue;
            const match = matchOf(posting & MOST_COUNTED, lengths[text] ?? 0, norms);
            const cell = place * columns + column;
            found[cell] = Math.min(MOST_MATCHING, (found[cell] ?? 0) + share * match);
          }
        }
      }
      for (const text of texts) places[text] = 0;
      return texts.map((_, place) => found.subarray(place * columns, (place + 1) * columns));
    },
  };
}

/** What BM25 makes of how often a word is in a text of so many words. */
function matchOf(times: number, length: number, { own, perWord }: ReturnType<typeof normsOf>) {
  return ((K1 + 1) * times) / (times + own + perWord * length);
}

function normsOf(averageLength: number) {
  return { own: K1 * (1 - B), perWord: (K1 * B) / averageLength };
}

/** Adds what a word counts for to the scores of the texts that have it. */
function addScores(
  scores: Float32Array,
  { length, values }: List,
  {
    rareness,
    lengths,
    norms,
  }: { rareness: number; lengths: Int32Array; norms: ReturnType<typeof normsOf> },
): void {
  for (let at = 0; at < length; at++) {
    const posting = values[at] ?? 0;
    const text = posting >> COUNT_BITS;
    const match = matchOf(posting & MOST_COUNTED, lengths[text] ?? 0, norms);
    scores[text] = (scores[text] ?? 0) + rareness * match;
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
