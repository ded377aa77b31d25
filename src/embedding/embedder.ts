import { withTimeLimit } from "../timing/time-limit.ts";
import type { ModelManifest } from "./manifest.ts";
import type { Relate } from "./relations/relater.ts";

/** Properties of an embedding model that other parts of the program need. */
export type EmbeddingModel = Readonly<
  Pick<ModelManifest, "id" | "formerIds" | "dimension" | "cosines">
>;

/** Whether vectors recorded under an id are vectors of this model. */
export function makesVectorsOf({ id, formerIds = [] }: EmbeddingModel, recorded: string): boolean {
  return id === recorded || formerIds.includes(recorded);
}

/** Length of a token state. Its numbers are bytes, and its Euclidean norm is 127. */
export const STATE_BYTES = 64;

/** Maximum number of token states of a text. A longer text keeps those of its rarest tokens. */
export const MAX_STATES = 96;

/**
 * The states of a query's tokens, projected to fewer numbers. A state represents the meaning of a word in
 * its context. Stop words and punctuation have none.
 */
export interface TokenStates {
  /** `STATE_BYTES` numbers for each token, one after the other. */
  readonly numbers: Int8Array;
  /** For each token the word of the text that it belongs to, in lower case. */
  readonly words: readonly string[];
}

export interface QueryEmbedding {
  readonly vector: Float32Array;
  readonly states: TokenStates;
  /** The share of the query that the model understands, 0 to 1. */
  readonly understood: number;
}

export interface ContentEmbedding {
  /** One for each passage, in order. A content that fits the window has one. */
  readonly vectors: Float32Array[];
  /** Start of each passage in the content, in UTF-16 units. */
  readonly starts: number[];
  /** Token states like those of a query, at most `MAX_STATES`, spread evenly over all passages. */
  readonly states: Int8Array;
}

/** Who waits for an embedding. The engine is shared between accounts, and within them between keys. */
export interface Caller {
  readonly accountId: string;
  readonly credential?: { readonly id: string };
  /** Aborted when nobody waits any more. */
  readonly signal?: AbortSignal;
}

/**
 * Embeds texts as vectors of length 1. A call rejects with `AppError` `unavailable` (503) when the engine
 * is not running (it restarts meanwhile), its queue is full, or nobody waits for a content any more.
 */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** Resolves when the engine is loaded; rejects when loading fails. */
  ready(): Promise<void>;
  /**
   * Embeds a query, before most waiting contents. Recent queries are cached.
   * @param caller by default the server itself
   */
  embedQuery(text: string, caller?: Caller): Promise<QueryEmbedding>;
  embedContent(text: string, caller?: Caller): Promise<ContentEmbedding>;
  /** Tells what a later text is to an earlier one, by a model of its own. */
  relate: Relate;
  /** Ends the workers. Waiting calls reject with `unavailable`. */
  close(): Promise<void>;
}

/** The cosine of two vectors of length 1. */
export function cosineOf(one: ArrayLike<number>, other: ArrayLike<number>): number {
  let sum = 0;
  for (let at = 0; at < one.length; at++) sum += (one[at] ?? 0) * (other[at] ?? 0);
  return sum;
}

/**
 * Embeds several texts of which none is needed once one is refused: the others then leave the queue.
 * @param work embeds them for the caller that it gets
 */
export async function embedTogether<Result>(
  caller: Caller,
  work: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  const failed = new AbortController();
  const signals = caller.signal ? [caller.signal, failed.signal] : [failed.signal];
  try {
    return await work({ ...caller, signal: AbortSignal.any(signals) });
  } catch (error) {
    failed.abort();
    throw error;
  }
}

/** Milliseconds that a search waits for a model that is being loaded. */
const LOAD_TIMEOUT_MS = 500;

/**
 * Returns a function that tells whether a model is loaded, now or within the time limit. A model that failed to
 * load counts as ready: embedding a text then reports the reason.
 */
export function createReadinessCheck(): (embedder: Pick<Embedder, "ready">) => Promise<boolean> {
  const loads = new WeakMap<object, { isOver: boolean; over: Promise<void> }>();

  const follow = (embedder: Pick<Embedder, "ready">) => {
    const end = () => {
      load.isOver = true;
    };
    const load = { isOver: false, over: embedder.ready().then(end, end) };
    loads.set(embedder, load);
    return load;
  };

  return async (embedder) => {
    const load = loads.get(embedder) ?? follow(embedder);
    if (!load.isOver) await withTimeLimit(load.over, LOAD_TIMEOUT_MS, () => {});
    return load.isOver;
  };
}
