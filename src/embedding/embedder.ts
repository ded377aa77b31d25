/** What the rest of the program needs to know of an embedding model. */
export interface EmbeddingModel {
  /** Identity that a table records, so that vectors of two models are never compared. */
  readonly id: string;
  /** Ids under which earlier versions recorded the same vectors, with less beside them. */
  readonly formerIds?: readonly string[];
  /** Numbers in a vector. */
  readonly dimension: number;
  /** The cosines that the model gives to unrelated texts and to the same text. */
  readonly cosines: { readonly unrelated: number; readonly same: number };
}

/** Whether a model makes the vectors that are recorded under an id. */
export function makesVectorsOf({ id, formerIds = [] }: EmbeddingModel, recorded: string): boolean {
  return id === recorded || formerIds.includes(recorded);
}

/** Numbers of a token's state: bytes, of length 127. */
export const STATE = 64;

/** Tokens of a text, or of a memory, whose states are kept: the rarest of a longer one. */
export const MAX_STATES = 96;

/**
 * The model's states of a question's tokens, projected to fewer numbers: what each word means where it
 * stands. Stop words and punctuation have none.
 */
export interface TokenStates {
  /** `STATE` numbers for each token, one after the other. */
  readonly numbers: Int8Array;
  /** For each token the word that it belongs to, as it is in the text, in lower case. */
  readonly words: readonly string[];
}

export interface QueryEmbedding {
  readonly vector: Float32Array;
  readonly states: TokenStates;
  /** The share of the question that the model knows, 0 to 1. */
  readonly understood: number;
}

export interface ContentEmbedding {
  /** One for each passage, in order: at least one, one if the content fits the window. */
  readonly vectors: Float32Array[];
  /** Where each passage begins in the content, in UTF-16 units. */
  readonly starts: number[];
  /** As those of a question, of at most `MAX_STATES` tokens, evenly of all passages. */
  readonly states: Int8Array;
}

/**
 * Turns text into vectors of length 1. A call rejects with `AppError` `unavailable` (503) when the
 * engine is not running (it is started again meanwhile) or has more work than it may queue.
 */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** Resolves when the engine is loaded; rejects when it can't be. */
  ready(): Promise<void>;
  /** Embeds a question. Goes before all waiting contents; recent ones are cached. */
  embedQuery(text: string): Promise<QueryEmbedding>;
  embedContent(text: string): Promise<ContentEmbedding>;
  /** Ends the worker. Waiting calls reject with `unavailable`. */
  close(): Promise<void>;
}
