import { AppError } from "../errors.ts";
import { isCompiled } from "../native/embedded-asset.ts";
import { disableTelemetry } from "../native/inference.ts";
import type { Embeddings, FromWorker, Kind, ToWorker } from "./messages.ts";

/** One worker from its start to its end. */
export interface WorkerConnection {
  /** Resolves when the engine is loaded; rejects when the worker ends before that. */
  readonly loaded: Promise<void>;
  /** Resolves with the reason when the worker has ended, for whatever reason. */
  readonly ended: Promise<Error>;
  /** Embeds a text; rejects with `unavailable` when the worker ends first. */
  embed<Type extends Kind>(type: Type, text: string): Promise<Embeddings[Type]>;
  /** Ends the worker as soon as it is between two runs, and resolves then. Nothing waits any more. */
  end(reason: Error): Promise<void>;
}

/** A call that waits for its answer. */
interface Waiting {
  resolve(embedding: Embeddings[Kind]): void;
  reject(error: Error): void;
}

/** In the executable everything but the worker is one module, at the root of its file system. */
const WORKER = isCompiled ? "./embedding/worker.js" : "./worker.ts";

/** Starts the worker's thread. */
export function spawnWorker(): Worker {
  disableTelemetry();
  return new Worker(new URL(WORKER, import.meta.url).href);
}

/** Has a worker that was just spawned load the model, and stays with it to its end. */
export function connectWorker(
  worker: Worker,
  load: Omit<ToWorker & { type: "load" }, "type">,
): WorkerConnection {
  const waiting = new Map<number, Waiting>();
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Error>();
  let over: Error | null = null;
  let lastId = 0;

  const send = (message: ToWorker): void => worker.postMessage(message);
  const gone = Promise.withResolvers<void>();
  const end = async (reason: Error): Promise<void> => {
    if (over) return gone.promise;
    over = reason;
    // It ends itself: ONNX Runtime aborts the whole process when its thread is ended during a run.
    send({ type: "close" });
    loaded.reject(reason);
    for (const { reject } of waiting.values()) reject(unavailable(reason));
    waiting.clear();
    ended.resolve(reason);
    return gone.promise;
  };
  const settle = (id: number): Waiting | undefined => {
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
    gone.resolve();
    void end(new Error("The embedding worker ended."));
  });
  // Whoever does not wait for the load learns of its failure by `ended`.
  loaded.promise.catch(() => {});
  send({ type: "load", ...load });

  return {
    loaded: loaded.promise,
    ended: ended.promise,
    embed(type, text) {
      if (over) return Promise.reject(unavailable(over));
      const id = ++lastId;
      const embedded = new Promise<Embeddings[typeof type]>((resolve, reject) => {
        // What comes back for a text is of the kind that was asked for.
        const settle = (embedding: Embeddings[Kind]) =>
          resolve(embedding as Embeddings[typeof type]);
        waiting.set(id, { resolve: settle, reject });
      });
      send({ type, id, text });
      return embedded;
    },
    end,
  };
}

function unavailable(cause: Error): AppError {
  return new AppError(
    "unavailable",
    "The embedding engine is not running: it is being started again, try in a moment.",
    { retryAfter: 1, cause },
  );
}

function refused(message: string): AppError {
  return new AppError("internal", "A text could not be embedded.", { cause: new Error(message) });
}
