import { AppError } from "../errors.ts";
import { isCompiled } from "../native/embedded-asset.ts";
import { disableTelemetry } from "../native/inference.ts";
import type { Caller, ContentEmbedding, QueryEmbedding } from "./embedder.ts";
import type { ModelManifest } from "./manifest.ts";

/** The embedding of each kind of text. */
export interface Embeddings {
  query: QueryEmbedding;
  content: ContentEmbedding;
}
export type TextKind = keyof Embeddings;

/** Messages of the main thread to the worker. */
export type ToWorker =
  /** `isFurther`: whether other work goes before that of this engine. */
  | { type: "load"; cacheDir: string; manifest: ModelManifest; isFurther: boolean }
  | { type: TextKind; id: number; text: string; accountId: string }
  | { type: "cancel"; id: number }
  /** Other work goes far before that of this engine, as long as it runs. */
  | { type: "give way" }
  | { type: "close" };

/** Messages of the worker to the main thread. */
export type FromWorker =
  | { type: "loaded" }
  | { type: "failed"; message: string }
  | { type: "done"; id: number; embedding: Embeddings[TextKind] }
  | { type: "refused"; id: number; message: string };

/** The connection to one worker, from its start to its end. */
export type WorkerConnection = ReturnType<typeof connectWorker>;

/** Path of the worker's module. The executable has all other code at the root of its file system. */
const WORKER = isCompiled ? "./embedding/worker.js" : "./worker.ts";

export function spawnWorker(): Worker {
  disableTelemetry();
  return new Worker(new URL(WORKER, import.meta.url).href);
}

/** Makes a new worker load the model, and connects to it. */
export function connectWorker(worker: Worker, load: Omit<ToWorker & { type: "load" }, "type">) {
  const waiting = new Map<number, PromiseWithResolvers<Embeddings[TextKind]>>();
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Error>();
  let endReason: Error | null = null;
  let lastId = 0;
  let givesWay = false;

  const send = (message: ToWorker): void => worker.postMessage(message);
  const closed = Promise.withResolvers<void>();
  const end = async (reason: Error): Promise<void> => {
    if (endReason) return closed.promise;
    endReason = reason;
    // The worker ends itself: terminating its thread during a run makes ONNX Runtime abort the process.
    send({ type: "close" });
    loaded.reject(reason);
    for (const { reject } of waiting.values()) reject(unavailable(reason));
    waiting.clear();
    ended.resolve(reason);
    return closed.promise;
  };
  const settle = (id: number) => {
    const call = waiting.get(id);
    waiting.delete(id);
    return call;
  };

  worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
    if (data.type === "loaded") loaded.resolve();
    else if (data.type === "failed") void end(new Error(data.message));
    else if (data.type === "done") settle(data.id)?.resolve(data.embedding);
    else settle(data.id)?.reject(refused(data.message));
  };
  worker.onerror = ({ message }) => void end(new Error(message));
  worker.addEventListener("close", () => {
    closed.resolve();
    void end(new Error("The embedding worker ended."));
  });
  // A failure to load is also reported by `ended`, so it must not count as unhandled here.
  loaded.promise.catch(() => {});
  send({ type: "load", ...load });

  return {
    /** Resolves when the engine is loaded; rejects when the worker ends before that. */
    loaded: loaded.promise,
    /** Resolves with the reason when the worker has ended. */
    ended: ended.promise,
    /** Embeds a text; rejects with `unavailable` when the worker ends first, or the caller goes. */
    embed<Type extends TextKind>(
      type: Type,
      text: string,
      { accountId, signal }: Caller,
    ): Promise<Embeddings[Type]> {
      if (endReason) return Promise.reject(unavailable(endReason));
      if (signal?.aborted) return Promise.reject(unwanted());
      const id = ++lastId;
      const call = Promise.withResolvers<Embeddings[TextKind]>();
      waiting.set(id, call);
      // The worker answers with an embedding of the requested kind.
      const embedded = call.promise as Promise<Embeddings[Type]>;
      send({ type, id, text, accountId });
      if (!signal) return embedded;
      const cancel = () => {
        send({ type: "cancel", id });
        settle(id)?.reject(unwanted());
      };
      signal.addEventListener("abort", cancel, { once: true });
      return embedded.finally(() => signal.removeEventListener("abort", cancel));
    },
    /** Lets all other threads go far before this engine's, until it ends. */
    giveWay(): void {
      if (!givesWay) send({ type: "give way" });
      givesWay = true;
    },
    /** Ends the worker between two runs, and then resolves. Waiting calls are rejected. */
    end,
  };
}

function unavailable(cause: Error): AppError {
  return new AppError(
    "unavailable",
    "The embedding engine is not running, but is being restarted: try again in a moment.",
    { retryAfter: 1, cause },
  );
}

/** The error of a text whose client has gone. */
export function unwanted(): AppError {
  return new AppError("unavailable", "The client has gone: its text was not embedded.");
}

function refused(message: string): AppError {
  return new AppError("internal", "A text could not be embedded.", { cause: new Error(message) });
}
