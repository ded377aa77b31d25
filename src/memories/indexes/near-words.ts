import { createPause } from "../../timing/pause.ts";
import { grow } from "./growing-arrays.ts";

/** Letters from which a word may have one spelling mistake, and two. */
const MISSPELT = 5;
const TWICE_MISSPELT = 8;
/** The weight of a word that differs by one edit, or by two. */
const ONE_EDIT = 0.6;
const TWO_EDITS = 0.4;
/** The weight of a word that begins or ends with the other one ("Steuererklärung", "Erklärung"). */
const COMPOUND = 0.5;
/** Fewest letters of a part: shorter ones match too many words by chance. */
const PART = 5;
/** Most similar words of one word. */
const MAX_SIMILAR = 8;
/**
 * Words of a question for which similar words are searched. Each takes up to 14 ms in an index of a million words, and
 * a question may be a pasted text of 2,000 characters.
 */
export const MAX_MISSPELT = 4;
/** Words with digits have no similar words: another digit makes another number or identifier. */
const HAS_DIGIT = /\p{N}/u;
/** Fewest letters of a similar word. */
const SHORTEST = MISSPELT - 1;
/** Words from which on an index is read while it grows: reading it all at once would delay a question too long. */
const LARGE = 20_000;
/** Bytes of a word: its reference, and two numbers for its letters and its ends. */
const ENTRY = 17;

const LETTER = 16;
const LAST = (1 << LETTER) - 1;
const FIRST = ~LAST;

/** The weight of a word of an index in place of another word; 0 if they are not similar. */
export function nearness(asked: string, word: string): number {
  return HAS_DIGIT.test(asked) || HAS_DIGIT.test(word)
    ? 0
    : misspelling(asked, word) || compound(asked, word);
}

function misspelling(asked: string, word: string): number {
  const most = editsIn(asked);
  if (most === 0 || asked[0] !== word[0]) return 0;
  const edits = distance(asked, word, most);
  return edits > most ? 0 : edits === 1 ? ONE_EDIT : TWO_EDITS;
}

function compound(asked: string, word: string): number {
  return isPartOf(asked, word) || isPartOf(word, asked) ? COMPOUND : 0;
}

/** How many edits a word may have. */
function editsIn({ length }: string): number {
  return length < MISSPELT ? 0 : length < TWICE_MISSPELT ? 1 : 2;
}

/** Whether a word can have similar words at all. */
export function mayBeNear(word: string): boolean {
  return word.length >= Math.min(MISSPELT, PART) && !HAS_DIGIT.test(word);
}

/** Beginnings and ends of a word that may be words themselves. */
export function partsOf(word: string): string[] {
  const lengths = Array.from({ length: Math.max(0, word.length - PART) }, (_, at) => at + PART);
  return lengths.flatMap((length) => [word.slice(0, length), word.slice(-length)]);
}

/** The most similar words with their weights. */
export function nearestWords(found: Iterable<[word: string, nearness: number]>) {
  const inOrder = [...found]
    .filter(([, counts]) => counts > 0)
    .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
  return new Map(inOrder.slice(0, MAX_SIMILAR));
}

/**
 * The most similar words of some texts. Long texts have millions of words, so other work gets its turn in between.
 * @param texts words with spaces between them
 */
export async function nearestIn(
  texts: readonly string[],
  asked: string,
): Promise<Map<string, number>> {
  const known = new Map<string, number>();
  const pause = createPause();
  for (const text of texts) {
    for (const word of text.split(" ")) {
      if (!known.has(word)) known.set(word, nearness(asked, word));
    }
    await pause();
  }
  return nearestWords(known);
}

/** The words of an index that resemble a word which none of its texts has. */
export function createNearWords(words: ReadonlyMap<string, unknown> | ReadonlySet<string>) {
  // A small index is read at the first question that needs similar words. Most questions need none.
  let known: string[] | null = null;
  let masks = new Int32Array(0);
  let ends = new Int32Array(0);

  const note = (word: string, all: string[]) => {
    if (word.length < SHORTEST || HAS_DIGIT.test(word)) return;
    masks = grow(masks, all.length + 1);
    ends = grow(ends, all.length + 1);
    masks[all.length] = maskOf(word);
    ends[all.length] = endsOf(word);
    all.push(word);
  };

  const read = () => {
    const all: string[] = [];
    for (const word of words.keys()) note(word, all);
    known = all;
    return all;
  };

  return {
    get bytes() {
      return (known?.length ?? 0) * ENTRY;
    },

    /** Adds a new word of the index. */
    add(word: string): void {
      // Words that were removed and added again are in the list twice.
      if (known && known.length >= 2 * words.size) known = null;
      if (known) note(word, known);
      else if (words.size >= LARGE) read();
    },

    /** The most similar words, with the weight of each, 0 to 1. */
    to(asked: string): Map<string, number> {
      if (!mayBeNear(asked)) return new Map();
      const all = known ?? read();
      const mask = maskOf(asked);
      const own = endsOf(asked);
      const most = editsIn(asked);
      const found = new Map<string, number>();
      for (let at = 0; at < all.length; at++) {
        const likeness = compareLetters(own ^ (ends[at] ?? 0), mask, masks[at] ?? 0, most);
        if (likeness === DIFFERENT) continue;
        const word = all[at] ?? "";
        const counts =
          (likeness === PART_ONLY ? 0 : misspelling(asked, word)) || compound(asked, word);
        if (counts > 0 && words.has(word)) found.set(word, counts);
      }
      return nearestWords(found);
    },
  };
}

const [DIFFERENT, PART_ONLY, SIMILAR] = [0, 1, 2];

/**
 * Whether two words may be similar, or one a part of the other, by their letters alone.
 * @param different bits in which their first and last letters differ
 * @param most edits up to which words are similar
 */
function compareLetters(different: number, mask: number, other: number, most: number): number {
  const isFirst = (different & FIRST) === 0;
  // A similar word has the same first letter. A part begins or ends with the same letter.
  if (!isFirst && (different & LAST) !== 0) return DIFFERENT;
  // Each edit changes at most two letters of the set. A part has no letter that the whole lacks.
  if (isFirst && bitsOf(mask ^ other) <= 2 * most) return SIMILAR;
  return (mask & other) === mask || (mask & other) === other ? PART_ONLY : DIFFERENT;
}

/** Which letters a word has, as bits. */
function maskOf(word: string): number {
  let mask = 0;
  for (let at = 0; at < word.length; at++) mask |= 1 << (word.charCodeAt(at) & 31);
  return mask;
}

/** The first and the last letter of a word. */
function endsOf(word: string): number {
  return (word.charCodeAt(0) << LETTER) | word.charCodeAt(word.length - 1);
}

function bitsOf(mask: number): number {
  let bits = mask - ((mask >>> 1) & 0x55555555);
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333);
  return (((bits + (bits >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

function isPartOf(part: string, whole: string): boolean {
  if (part.length < PART || part.length >= whole.length) return false;
  return whole.endsWith(part) || whole.startsWith(part);
}

/**
 * The number of edits between two words: letters added, removed, replaced, or swapped with their neighbour (optimal
 * string alignment). Returns `most + 1` for every larger number.
 */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let before = new Uint8Array(b.length + 1);
  let last = Uint8Array.from({ length: b.length + 1 }, (_, at) => at);
  let next = new Uint8Array(b.length + 1);
  for (let i = 1; i <= a.length; i++) {
    next[0] = i;
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      let edits = Math.min(
        (last[j - 1] ?? 0) + (isSame ? 0 : 1),
        (last[j] ?? 0) + 1,
        (next[j - 1] ?? 0) + 1,
      );
      const isSwapped =
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1);
      if (isSwapped) edits = Math.min(edits, (before[j - 2] ?? 0) + 1);
      next[j] = edits;
      least = Math.min(least, edits);
    }
    if (least > most) return most + 1;
    [before, last, next] = [last, next, before];
  }
  return last[b.length] ?? 0;
}
