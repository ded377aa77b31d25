import type { Kind } from "./messages.ts";
import type { Passage } from "./passages.ts";

/** A text that waits for its embedding. */
export interface Job {
  readonly id: number;
  readonly type: Kind;
  readonly text: string;
  /** The passages of a content; null until it is split. */
  passages: Passage[] | null;
  /** Of those that were embedded. */
  readonly vectors: Float32Array[];
  readonly states: Int8Array[];
}

/** The order in which waiting texts are worked on, one run of the model at a time. */
export interface Schedule {
  add(job: Job): void;
  /** The job whose turn it is; it stays until it is removed. Null when nothing waits. */
  next(): Job | null;
  remove(job: Job): void;
}

/**
 * Queries go first, in the order of their arrival. Contents take turns between the oldest and the
 * shortest, so that one sentence does not wait minutes behind a batch of books, nor the books for
 * ever behind sentences.
 */
export function createEmbeddingQueue(): Schedule {
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
