import { grow } from "./growing-arrays.ts";

/** The texts that contain a word: text numbers and counts, packed into whole numbers. */
export interface PostingList {
  length: number;
  values: Int32Array<ArrayBuffer>;
}

/** A posting has the number of a text and, in its lower bits, how often the text contains the word. */
export const COUNT_BITS = 8;
export const MAX_COUNT = (1 << COUNT_BITS) - 1;

/** Bytes of a word with its entry in the map, and of a list besides its postings. */
const WORD_BYTES = 100;
const LIST_BYTES = 120;
const POSTING_BYTES = 4;
/** A list is shortened when it uses a smaller share of its space. */
const MIN_USED = 1 / 4;
const EMPTY: PostingList = { length: 0, values: new Int32Array(0) };

/**
 * The postings of all words. Most words are in one text only: their single posting is kept without a list.
 * @param onNewWord receives a word that no text had
 */
export function createPostings(onNewWord: (word: string) => void) {
  const byWord = new Map<string, number | PostingList>();
  let listBytes = 0;

  const resize = (list: PostingList, values: Int32Array<ArrayBuffer>) => {
    listBytes += (values.length - list.values.length) * POSTING_BYTES;
    list.values = values;
  };

  return {
    words: byWord as ReadonlyMap<string, unknown>,

    get bytes() {
      return byWord.size * WORD_BYTES + listBytes;
    },

    of(word: string): PostingList {
      const known = byWord.get(word) ?? EMPTY;
      return typeof known === "number" ? { length: 1, values: Int32Array.of(known) } : known;
    },

    add(word: string, posting: number): void {
      const known = byWord.get(word);
      if (known === undefined) {
        byWord.set(word, posting);
        onNewWord(word);
      } else if (typeof known === "number") {
        byWord.set(word, { length: 2, values: Int32Array.of(known, posting, 0, 0) });
        listBytes += 4 * POSTING_BYTES + LIST_BYTES;
      } else {
        resize(known, grow(known.values, known.length + 1));
        known.values[known.length++] = posting;
      }
    },

    remove(word: string, posting: number): void {
      const known = byWord.get(word);
      if (known === undefined || typeof known === "number") {
        byWord.delete(word);
        return;
      }
      const { values } = known;
      values[values.indexOf(posting)] = values[--known.length] ?? 0;
      if (known.length === 0) {
        byWord.delete(word);
        listBytes -= values.length * POSTING_BYTES + LIST_BYTES;
      } else if (known.length < MIN_USED * values.length) {
        resize(known, values.slice(0, 2 * known.length));
      }
    },
  };
}
