import type { ContentEmbedding, QueryEmbedding } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";

/** The embedding of each kind of text. */
export interface Embeddings {
  query: QueryEmbedding;
  content: ContentEmbedding;
}
export type TextKind = keyof Embeddings;

/** Messages of the main thread to the worker. */
export type ToWorker =
  | { type: "load"; cacheDir: string; manifest: ModelManifest }
  | { type: TextKind; id: number; text: string; accountId: string }
  | { type: "cancel"; id: number }
  | { type: "close" };

/** Messages of the worker to the main thread. */
export type FromWorker =
  | { type: "loaded" }
  | { type: "failed"; message: string }
  | { type: "done"; id: number; embedding: Embeddings[TextKind] }
  | { type: "refused"; id: number; message: string };
