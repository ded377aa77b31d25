import { findClusters } from "./clusters.ts";
import { topicWords } from "./topic-words.ts";

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

const MOST_TOPICS = 14;
/** A map of 24 memories has two topics. Their number grows with the square root of the memories. */
const MEMORIES_OF_TWO_TOPICS = 24;
const TYPICAL = 3;

/**
 * Divides a map into topics, and names each by words that its texts have and others do not.
 * @param places x and y of each memory
 */
export function findTopics(places: Float32Array, texts: readonly string[]): Topics {
  const size = texts.length;
  const wanted = Math.round(Math.sqrt(size / (MEMORIES_OF_TWO_TOPICS / 4)));
  const count = Math.min(MOST_TOPICS, Math.max(1, wanted));
  const { centres, clusterOf } = findClusters(places, Math.min(count, size));
  const words = topicWords(texts, clusterOf, centres.length / 2);
  const topics = Array.from({ length: centres.length / 2 }, (_, topic): Topic => {
    const [x = 0, y = 0] = centres.subarray(2 * topic);
    const own = [...clusterOf.keys()].filter((point) => clusterOf[point] === topic);
    const distance = (point: number) =>
      Math.hypot((places[2 * point] ?? 0) - x, (places[2 * point + 1] ?? 0) - y);
    return {
      words: words[topic] ?? [],
      x,
      y,
      memories: own.length,
      typical: own.sort((a, b) => distance(a) - distance(b)).slice(0, TYPICAL),
    };
  });
  // The largest first, without topics that have no memories.
  const order = [...topics.keys()]
    .filter((topic) => (topics[topic]?.memories ?? 0) > 0)
    .sort((a, b) => (topics[b]?.memories ?? 0) - (topics[a]?.memories ?? 0));
  return {
    topics: order.flatMap((topic) => topics[topic] ?? []),
    topicOf: clusterOf.map((topic) => order.indexOf(topic)),
  };
}
