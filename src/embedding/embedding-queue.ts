import type { Kind } from "./messages.ts";
import type { Passage } from "./passages.ts";

/** A text that waits for its embedding. */
export interface Job {
  readonly id: number;
  readonly type: Kind;
  readonly text: string;
  /** The passages of a content; null before it is split. */
  passages: Passage[] | null;
  /** Vectors and states of the passages that are embedded. */
  readonly vectors: Float32Array[];
  readonly states: Int8Array[];
}

/** Waiting texts, in the order of their next runs of the model. */
interface EmbeddingQueue {
  add(job: Job): void;
  /** The job of the next run, which stays in the queue until it is removed; null without jobs. */
  next(): Job | null;
  remove(job: Job): void;
}

/**
 * Queries come first, in the order of their arrival. Then the oldest and the shortest content take turns,
 * so that a sentence does not wait minutes behind a batch of books, and books do not wait forever behind
 * sentences.
 */
export function createEmbeddingQueue(): EmbeddingQueue {
  const queries = new Set<Job>();
  const contents = new Set<Job>();
  let oldestTurn = false;
  return {
    add(job) {
      (job.type === "query" ? queries : contents).add(job);
    },
    next() {
      const [query] = queries;
      if (query) return query;
      oldestTurn = !oldestTurn;
      const [oldest] = contents;
      return (oldestTurn ? oldest : shortest(contents)) ?? null;
    },
    remove(job) {
      queries.delete(job);
      contents.delete(job);
    },
  };
}

function shortest(jobs: Iterable<Job>): Job | undefined {
  let found: Job | undefined;
  for (const job of jobs) {
    if (!found || job.text.length < found.text.length) found = job;
  }
  return found;
}
