/** What the main thread tells the worker. */
export type ToWorker =
  | { type: "load"; cacheDir: string; modelSource: string | undefined }
  | { type: "query" | "content"; id: number; text: string }
  | { type: "close" };

/** What the worker tells the main thread. `vectors` holds one vector after the other. */
export type FromWorker =
  | { type: "loaded" }
  | { type: "failed"; message: string }
  | { type: "done"; id: number; vectors: Float32Array<ArrayBuffer> }
  | { type: "refused"; id: number; message: string };
