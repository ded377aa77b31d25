import { tokensOf } from "../indexes/tokens.ts";
import { HAS_UNSPACED } from "../indexes/unspaced-scripts.ts";
import { createRandomNumbers } from "./random-numbers.ts";

/** A part of the map, where memories are about the same. */
export interface Topic {
  /** What sets its memories apart from others, the most telling word first; none where nothing does. */
  words: string[];
  /** Its middle, 0 to 1. */
  x: number;
  y: number;
  /** How many memories it has. */
  memories: number;
  /** Those in its middle, by their numbers. */
  typical: number[];
}

/** The topics of a map, and for each memory the number of its own. */
export interface Topics {
  topics: Topic[];
  topicOf: Uint8Array;
}

const MOST_TOPICS = 14;
/** About as many memories make two topics. */
const OF_TWO = 24;
const WORDS = 3;
const TYPICAL = 3;
/** Times that middles are looked for, and moves of each time. */
const TRIES = 4;
const MOVES = 25;
/** How much more a word counts that few memories have than one that many have. */
const RARE = 2;
/** Words of three letters and more, without what follows an apostrophe. */
const WORD = /(?<![\p{L}\p{N}'’])\p{L}[\p{L}\p{M}\p{N}]{2,}(?!['’][^s])/gu;

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/**
 * Divides a map into parts, and names each by what its texts have and others don't.
 * @param places x and y of each memory
 */
export function findTopics(places: Float32Array, texts: readonly string[]): Topics {
  const size = texts.length;
  const count = Math.min(MOST_TOPICS, Math.max(1, Math.round(Math.sqrt(size / (OF_TWO / 4)))));
  const { middles, nearest } = partsOf(places, Math.min(count, size));
  const words = tellingWords(texts, nearest, middles.length / 2);
  const topics = Array.from({ length: middles.length / 2 }, (_, topic): Topic => {
    const [x = 0, y = 0] = middles.subarray(2 * topic);
    const own = [...nearest.keys()].filter((point) => nearest[point] === topic);
    const far = (point: number) =>
      Math.hypot((places[2 * point] ?? 0) - x, (places[2 * point + 1] ?? 0) - y);
    return {
      words: words[topic] ?? [],
      ...{ x, y, memories: own.length },
      typical: own.sort((a, b) => far(a) - far(b)).slice(0, TYPICAL),
    };
  });
  // The largest first, without those that nothing is nearest to.
  const order = [...topics.keys()]
    .filter((topic) => (topics[topic]?.memories ?? 0) > 0)
    .sort((a, b) => (topics[b]?.memories ?? 0) - (topics[a]?.memories ?? 0));
  return {
    topics: order.flatMap((topic) => topics[topic] ?? []),
    topicOf: nearest.map((topic) => order.indexOf(topic)),
  };
}

/** By k-means (Lloyd), from starts as k-means++ takes them; the best of some tries. */
function partsOf(places: Float32Array, count: number) {
  const size = places.length / 2;
  const random = createRandomNumbers();
  let best = { middles: new Float32Array(0), nearest: new Uint8Array(size), spread: Infinity };

  const square = (point: number, middles: Float32Array, part: number) => {
    const x = (places[2 * point] ?? 0) - (middles[2 * part] ?? 0);
    const y = (places[2 * point + 1] ?? 0) - (middles[2 * part + 1] ?? 0);
    return x * x + y * y;
  };

  for (let attempt = 0; attempt < TRIES; attempt++) {
    const middles = new Float32Array(2 * count);
    const far = new Float64Array(size).fill(1);
    for (let part = 0; part < count; part++) {
      let left = random() * far.reduce((sum, value) => sum + value, 0);
      let start = 0;
      while (start < size - 1 && left > (far[start] ?? 0)) left -= far[start++] ?? 0;
      middles.set(places.subarray(2 * start, 2 * start + 2), 2 * part);
      for (let point = 0; point < size; point++) {
        const distance = square(point, middles, part);
        far[point] = part === 0 ? distance : Math.min(far[point] ?? 0, distance);
      }
    }
    const nearest = new Uint8Array(size);
    let spread = 0;
    for (let move = 0; move < MOVES; move++) {
      spread = 0;
      const sums = new Float64Array(3 * count);
      for (let point = 0; point < size; point++) {
        let least = Number.POSITIVE_INFINITY;
        for (let part = 0; part < count; part++) {
          const distance = square(point, middles, part);
          if (distance < least) [least, nearest[point]] = [distance, part];
        }
        spread += least;
        const at = 3 * (nearest[point] ?? 0);
        sums[at] = (sums[at] ?? 0) + (places[2 * point] ?? 0);
        sums[at + 1] = (sums[at + 1] ?? 0) + (places[2 * point + 1] ?? 0);
        sums[at + 2] = (sums[at + 2] ?? 0) + 1;
      }
      for (let part = 0; part < count; part++) {
        const [x = 0, y = 0, all = 0] = sums.subarray(3 * part);
        if (all > 0) middles.set([x / all, y / all], 2 * part);
      }
    }
    if (spread < best.spread) best = { middles, nearest, spread };
  }
  return best;
}

/** For each part the words that most of its texts have and few of the others, as they are mostly written. */
function tellingWords(texts: readonly string[], partOf: Uint8Array, parts: number): string[][] {
  const everywhere = new Map<string, number>();
  const own = Array.from({ length: parts }, () => new Map<string, Map<string, number>>());
  const sizes = new Uint32Array(parts);
  const stems = new Map<string, string | null>();
  const stemOf = (word: string) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    const stem = tokensOf(word)[0] ?? null;
    stems.set(word, stem);
    return stem;
  };
  for (const [point, text] of texts.entries()) {
    const part = partOf[point] ?? 0;
    sizes[part] = (sizes[part] ?? 0) + 1;
    const met = new Set<string>();
    for (const word of wordsOf(text)) {
      const stem = stemOf(word);
      if (stem === null || met.has(stem)) continue;
      met.add(stem);
      everywhere.set(stem, (everywhere.get(stem) ?? 0) + 1);
      const forms = own[part]?.get(stem) ?? new Map<string, number>();
      forms.set(word, (forms.get(word) ?? 0) + 1);
      own[part]?.set(stem, forms);
    }
  }
  return own.map((stems, part) => {
    const least = (sizes[part] ?? 0) > 3 ? 2 : 1;
    const rated = [...stems].flatMap(([stem, forms]) => {
      const times = [...forms.values()].reduce((sum, count) => sum + count, 0);
      const all = everywhere.get(stem) ?? times;
      const rareness = parts === 1 ? 1 : Math.log(texts.length / all);
      return times < least ? [] : [{ forms, rate: times * rareness ** RARE }];
    });
    const best = rated.filter(({ rate }) => rate > 0).sort((a, b) => b.rate - a.rate);
    return best.slice(0, WORDS).map(({ forms }) => commonest(forms));
  });
}

function commonest(forms: ReadonlyMap<string, number>): string {
  return [...forms].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function wordsOf(text: string): string[] {
  if (!HAS_UNSPACED.test(text)) return text.match(WORD) ?? [];
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike && segment.length > 1 ? segment : [],
  );
}
