import type { Accepts } from "./flat-index.ts";
import { largest } from "./largest.ts";
import { tokensOf } from "./tokens.ts";

/** An inverted index: texts by their words. */
export interface WordIndex {
  /** How many words all texts have together. */
  readonly words: number;
  put(id: string, text: string): void;
  remove(id: string): void;
  clear(): void;
  /** The texts that match some words best, by BM25, the best first. */
  matching(words: string, count: number, accepts?: Accepts): { id: string; bm25: number }[];
}

/** Of BM25, as LanceDB has them: how soon repetition counts no more, and how much length does. */
const K1 = 1.2;
const B = 0.75;
/** A posting is a place and, in its lower bits, how often the word is there. */
const COUNT_BITS = 8;
const MOST_COUNTED = (1 << COUNT_BITS) - 1;
/** Places of removed texts from which on the lists are made anew, if they are half of all. */
const REMOVED = 1_000;

interface Term {
  token: string;
  /** Texts that have it. */
  texts: number;
  /** Those of removed texts too. */
  postings: number[];
}

export function createWordIndex(): WordIndex {
  let terms = new Map<string, Term>();
  let texts: { id: string; terms: Term[] }[] = [];
  /** Words of each text; 0 where one was removed. */
  let lengths: number[] = [];
  let places = new Map<string, number>();
  let scores = new Float32Array(0);
  let words = 0;

  const remove = (id: string) => {
    const place = places.get(id);
    const text = texts[place ?? -1];
    if (place === undefined || !text) return;
    words -= lengths[place] ?? 0;
    for (const term of text.terms) if (--term.texts === 0) terms.delete(term.token);
    places.delete(id);
    texts[place] = { id, terms: [] };
    lengths[place] = 0;
    if (texts.length - places.size > Math.max(REMOVED, places.size)) compact();
  };

  /** Leaves the places of removed texts out. */
  const compact = () => {
    const moved = new Map([...places.values()].map((place, index) => [place, index]));
    texts = [...moved.keys()].flatMap((place) => texts[place] ?? []);
    lengths = [...moved.keys()].map((place) => lengths[place] ?? 0);
    places = new Map(texts.map(({ id }, place) => [id, place]));
    for (const term of terms.values()) {
      term.postings = term.postings.flatMap((posting) => {
        const place = moved.get(posting >> COUNT_BITS);
        return place === undefined ? [] : (place << COUNT_BITS) | (posting & MOST_COUNTED);
      });
    }
  };

  return {
    get words() {
      return words;
    },

    put(id, content) {
      remove(id);
      const tokens = tokensOf(content);
      const place = texts.length;
      const counts = new Map<string, number>();
      for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
      const own: Term[] = [];
      counts.forEach((count, token) => {
        const term = terms.get(token) ?? { token, texts: 0, postings: [] };
        if (term.texts++ === 0) terms.set(token, term);
        term.postings.push((place << COUNT_BITS) | Math.min(count, MOST_COUNTED));
        own.push(term);
      });
      texts.push({ id, terms: own });
      lengths.push(tokens.length);
      places.set(id, place);
      words += tokens.length;
    },

    remove,

    clear() {
      [terms, texts, lengths, places, words] = [new Map(), [], [], new Map(), 0];
    },

    matching(question, count, accepts = null) {
      if (scores.length < texts.length) scores = new Float32Array(texts.length * 1.25);
      const perWord = (K1 * B * places.size) / words;
      const matching: number[] = [];
      for (const token of tokensOf(question)) {
        const term = terms.get(token);
        if (!term) continue;
        const rareness = Math.log(1 + (places.size - term.texts + 0.5) / (term.texts + 0.5));
        for (const posting of term.postings) {
          const place = posting >> COUNT_BITS;
          const length = lengths[place] ?? 0;
          if (length === 0) continue;
          const times = posting & MOST_COUNTED;
          const norm = K1 * (1 - B) + perWord * length;
          const known = scores[place] ?? 0;
          if (known === 0) matching.push(place);
          scores[place] = known + (rareness * (K1 + 1) * times) / (times + norm);
        }
      }
      const own = Float32Array.from(matching, (place) => scores[place] ?? 0);
      const idAt = (at: number) => texts[matching[at] ?? 0]?.id ?? "";
      const isAccepted = accepts && ((at: number) => accepts(idAt(at)));
      const found = largest(own, own.length, count, isAccepted).map((at) => ({
        id: idAt(at),
        bm25: own[at] ?? 0,
      }));
      for (const place of matching) scores[place] = 0;
      return found;
    },
  };
}
