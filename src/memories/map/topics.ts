import { HAS_UNSPACED, tokensOf } from "../indexes/tokens.ts";
import { createRandomNumbers } from "./random-numbers.ts";

const WORDS_OF_TOPIC = 3;
/** Exponent of a word's rareness: the higher, the more a word counts that few memories have. */
const RARENESS_EXPONENT = 2;
/** Memories from which on a word must be in at least two of them to name their topic. */
const MEMORIES_FOR_TWO = 4;
/** Words of at least three letters. Contractions such as `don't` are left out, a possessive `'s` is cut off. */
const WORD = /(?<![\p{L}\p{N}'’])\p{L}[\p{L}\p{M}\p{N}]{2,}(?!['’][^s])/gu;

const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** For each stem the number of texts that have it, by the written form of the word. */
type FormCounts = Map<string, Map<string, number>>;

/**
 * For each topic the words that most of its texts have and few other texts, in their most frequent form.
 * @param topicOf for each text the number of its topic
 */
function topicWords(texts: readonly string[], topicOf: Uint8Array, topics: number): string[][] {
  const textsWith = new Map<string, number>();
  const formsIn = Array.from({ length: topics }, (): FormCounts => new Map());
  const sizes = new Uint32Array(topics);
  for (const [point, text] of texts.entries()) {
    const topic = topicOf[point] ?? 0;
    sizes[topic] = (sizes[topic] ?? 0) + 1;
    for (const [stem, word] of firstForms(text)) {
      textsWith.set(stem, (textsWith.get(stem) ?? 0) + 1);
      const forms = formsIn[topic]?.get(stem) ?? new Map<string, number>();
      formsIn[topic]?.set(stem, forms.set(word, (forms.get(word) ?? 0) + 1));
    }
  }
  return formsIn.map((forms, topic) => {
    const least = (sizes[topic] ?? 0) >= MEMORIES_FOR_TWO ? 2 : 1;
    const rated = [...forms].flatMap(([stem, counts]) => {
      const times = [...counts.values()].reduce((sum, count) => sum + count, 0);
      if (times < least) return [];
      const rareness = topics === 1 ? 1 : Math.log(texts.length / (textsWith.get(stem) ?? times));
      return [{ counts, rate: times * rareness ** RARENESS_EXPONENT }];
    });
    const best = rated.filter(({ rate }) => rate > 0).sort((a, b) => b.rate - a.rate);
    return best.slice(0, WORDS_OF_TOPIC).map(({ counts }) => mostFrequent(counts));
  });
}

/** The stems of a text that the index has, each with the form of the first word that has it. */
function firstForms(text: string): ReadonlyMap<string, string> {
  const forms = new Map<string, string>();
  for (const word of wordsOf(text)) {
    const [stem] = tokensOf(word);
    if (stem !== undefined && !forms.has(stem)) forms.set(stem, word);
  }
  return forms;
}

function mostFrequent(forms: ReadonlyMap<string, number>): string {
  return [...forms].reduce((a, b) => (b[1] > a[1] ? b : a))[0];
}

function wordsOf(text: string): string[] {
  if (!HAS_UNSPACED.test(text)) return text.match(WORD) ?? [];
  return [...segmenter.segment(text)].flatMap(({ segment, isWordLike }) =>
    isWordLike && segment.length > 1 ? segment : [],
  );
}

/** Attempts with different first centres, and rounds of each attempt. */
const ATTEMPTS = 4;
const ROUNDS = 25;

/**
 * Divides places of the plane into clusters: k-means (Lloyd) with first centres by k-means++. Returns the
 * best of several attempts. The same places always give the same clusters.
 * @param places x and y of each
 * @param count at most the number of places
 * @returns x and y of the centre of each cluster, and for each place the number of its cluster
 */
function findClusters(places: Float32Array, count: number) {
  const size = places.length / 2;
  const random = createRandomNumbers();
  let best = { centres: new Float32Array(0), clusterOf: new Uint8Array(size), spread: Infinity };
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const centres = chooseCentres(places, count, random);
    const clusterOf = new Uint8Array(size);
    let spread = 0;
    for (let round = 0; round < ROUNDS; round++) {
      spread = assign(places, centres, clusterOf);
      moveCentres(places, clusterOf, centres);
    }
    if (spread < best.spread) best = { centres, clusterOf, spread };
  }
  return best;
}

function clustersAround(centres: Float32Array, places: Float32Array) {
  const clusterOf = new Uint8Array(places.length / 2);
  assign(places, centres, clusterOf);
  return { centres, clusterOf };
}

/** k-means++: the farther a place is from the centres so far, the likelier it becomes the next one. */
function chooseCentres(places: Float32Array, count: number, random: () => number) {
  const size = places.length / 2;
  const centres = new Float32Array(2 * count);
  /** For each place the square of its distance from the nearest centre so far. */
  const squares = new Float64Array(size).fill(1);
  for (let cluster = 0; cluster < count; cluster++) {
    let remaining = random() * squares.reduce((sum, value) => sum + value, 0);
    let chosen = 0;
    while (chosen < size - 1 && remaining > (squares[chosen] ?? 0)) {
      remaining -= squares[chosen++] ?? 0;
    }
    centres.set(places.subarray(2 * chosen, 2 * chosen + 2), 2 * cluster);
    for (let point = 0; point < size; point++) {
      const square = squareOfDistance(places, point, centres, cluster);
      squares[point] = cluster === 0 ? square : Math.min(squares[point] ?? 0, square);
    }
  }
  return centres;
}

/**
 * Assigns each place to the cluster with the nearest centre.
 * @returns the sum of the squares of all distances
 */
function assign(places: Float32Array, centres: Float32Array, clusterOf: Uint8Array): number {
  const count = centres.length / 2;
  let spread = 0;
  for (let point = 0; point < clusterOf.length; point++) {
    let least = Number.POSITIVE_INFINITY;
    for (let cluster = 0; cluster < count; cluster++) {
      const square = squareOfDistance(places, point, centres, cluster);
      if (square < least) {
        least = square;
        clusterOf[point] = cluster;
      }
    }
    spread += least;
  }
  return spread;
}

/** Moves each centre to the mean of its places. A centre without places stays. */
function moveCentres(places: Float32Array, clusterOf: Uint8Array, centres: Float32Array): void {
  const sums = new Float64Array(centres.length);
  const sizes = new Uint32Array(centres.length / 2);
  for (let point = 0; point < clusterOf.length; point++) {
    const cluster = clusterOf[point] ?? 0;
    sums[2 * cluster] = (sums[2 * cluster] ?? 0) + (places[2 * point] ?? 0);
    sums[2 * cluster + 1] = (sums[2 * cluster + 1] ?? 0) + (places[2 * point + 1] ?? 0);
    sizes[cluster] = (sizes[cluster] ?? 0) + 1;
  }
  for (const [cluster, size] of sizes.entries()) {
    if (size === 0) continue;
    centres[2 * cluster] = (sums[2 * cluster] ?? 0) / size;
    centres[2 * cluster + 1] = (sums[2 * cluster + 1] ?? 0) / size;
  }
}

function squareOfDistance(
  places: Float32Array,
  point: number,
  centres: Float32Array,
  cluster: number,
): number {
  const x = (places[2 * point] ?? 0) - (centres[2 * cluster] ?? 0);
  const y = (places[2 * point + 1] ?? 0) - (centres[2 * cluster + 1] ?? 0);
  return x * x + y * y;
}

/** A part of the map whose memories are about the same subject. */
export interface Topic {
  /** Words that distinguish its memories from the others, the most distinctive first; may be empty. */
  words: string[];
  /** Its centre, 0 to 1. */
  x: number;
  y: number;
  /** Number of its memories. */
  memories: number;
  /** Numbers of the memories that are nearest to its centre. */
  typical: number[];
}

/** The topics of a map, and for each memory the number of its topic. */
export interface Topics {
  topics: Topic[];
  topicOf: Uint8Array;
}

const MAX_TOPICS = 14;
/** A map of 24 memories has two topics. Their number grows with the square root of the memories. */
const MEMORIES_OF_TWO_TOPICS = 24;
const TYPICAL = 3;

/** The name and the centre of a topic, which stay while few memories come and go. */
export type TopicPlace = Pick<Topic, "words" | "x" | "y">;

/**
 * Divides a map into topics, and names each by words that its texts have and others do not.
 * @param places x and y of each memory
 * @param former topics that are kept, with their names
 */
export function findTopics(
  places: Float32Array,
  texts: readonly string[],
  former?: readonly TopicPlace[],
): Topics {
  const size = texts.length;
  const wanted = Math.round(Math.sqrt(size / (MEMORIES_OF_TWO_TOPICS / 4)));
  const count = Math.min(MAX_TOPICS, Math.max(1, wanted));
  const { centres, clusterOf } = former
    ? clustersAround(Float32Array.from(former.flatMap(({ x, y }) => [x, y])), places)
    : findClusters(places, Math.min(count, size));
  const members = Map.groupBy(clusterOf.keys(), (point) => clusterOf[point] ?? 0);
  const words =
    former?.map((topic) => topic.words) ?? topicWords(texts, clusterOf, centres.length / 2);
  const sizeOf = (cluster: number) => members.get(cluster)?.length ?? 0;
  // The largest first.
  const order = [...members.keys()].sort((a, b) => sizeOf(b) - sizeOf(a) || a - b);
  const topics = order.map((cluster): Topic => {
    const [x = 0, y = 0] = centres.subarray(2 * cluster);
    const own = members.get(cluster) ?? [];
    const distance = (point: number) =>
      Math.hypot((places[2 * point] ?? 0) - x, (places[2 * point + 1] ?? 0) - y);
    return {
      words: words[cluster] ?? [],
      x,
      y,
      memories: own.length,
      typical: own.sort((a, b) => distance(a) - distance(b)).slice(0, TYPICAL),
    };
  });
  return { topics, topicOf: clusterOf.map((cluster) => order.indexOf(cluster)) };
}
