import type { ModelManifest } from "./manifest.ts";

/** What the main thread tells the worker. */
export type ToWorker =
  | { type: "load"; cacheDir: string; manifest: ModelManifest; modelSource: string | undefined }
  | { type: "query" | "content"; id: number; text: string }
  | { type: "close" };

/** What the worker tells the main thread. `vectors` holds so many (`count`), one after the other. */
export type FromWorker =
  | { type: "loaded" }
  | { type: "failed"; message: string }
  | { type: "done"; id: number; count: number; vectors: Float32Array<ArrayBuffer> }
  | { type: "refused"; id: number; message: string };
