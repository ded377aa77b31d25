/** What the rest of the program needs to know of an embedding model. */
export interface EmbeddingModel {
  /** Identity that a table records, so that vectors of two models are never compared. */
  readonly id: string;
  /** Numbers in a vector. */
  readonly dimension: number;
  /** The cosines that the model gives to unrelated texts and to the same text. */
  readonly cosines: { readonly unrelated: number; readonly same: number };
}

/**
 * Turns text into vectors of length 1. A call rejects with `AppError` `unavailable` (503) when the
 * engine is not running (it is started again meanwhile) or has more work than it may queue.
 */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** Resolves when the engine is loaded; rejects when it can't be. */
  ready(): Promise<void>;
  /** The vector of a question. Goes before all waiting contents; recent ones are cached. */
  embedQuery(text: string): Promise<Float32Array>;
  /** One vector for each passage of a content, in order: at least one, one if it fits the window. */
  embedContent(text: string): Promise<Float32Array[]>;
  /** Ends the worker. Waiting calls reject with `unavailable`. */
  close(): Promise<void>;
}
