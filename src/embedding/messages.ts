import type { ContentEmbedding, QueryEmbedding } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";

/** What becomes of a text of each kind. */
export interface Embeddings {
  query: QueryEmbedding;
  content: ContentEmbedding;
}
export type Kind = keyof Embeddings;

/** What the main thread tells the worker. */
export type ToWorker =
  | { type: "load"; cacheDir: string; manifest: ModelManifest; modelSource: string | undefined }
  | { type: Kind; id: number; text: string }
  | { type: "close" };

/** What the worker tells the main thread. */
export type FromWorker =
  | { type: "loaded" }
  | { type: "failed"; message: string }
  | { type: "done"; id: number; embedding: Embeddings[Kind] }
  | { type: "refused"; id: number; message: string };
