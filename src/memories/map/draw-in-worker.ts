import { AppError } from "../../errors.ts";
import { isCompiled } from "../../native/embedded-asset.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";
import type { TopicPlace, Topics } from "./topics.ts";

/** In the executable all modules but the workers are one module, at the root of its file system. */
const WORKER = isCompiled ? "./memories/map/map-worker.js" : "./map-worker.ts";

/** Milliseconds in which a map must be drawn. Ten thousand memories take 4 s. */
const LIMIT_MS = 300_000;

/** The input of a map. */
export interface ToDraw {
  /** The vectors one after the other, each of length 1. */
  vectors: Float32Array<ArrayBuffer>;
  /** Dimension of a vector. */
  dimension: number;
  /** The beginnings of the memories. */
  texts: string[];
  /** A map of nearly the same memories, whose places and topics stay: x and y of each, `NaN` for a new memory. */
  former: { places: Float32Array<ArrayBuffer>; topics: TopicPlace[] } | null;
}

export interface Drawn extends Topics {
  /** x and y of each memory, 0 to 1. */
  places: Float32Array<ArrayBuffer>;
}

/** @param signal aborted when nobody waits for the map any more */
export type Draw = (what: ToDraw, signal?: AbortSignal) => Promise<Drawn>;

/**
 * Creates a function that draws maps in one worker, one after the other, so that embedding and searching keep the
 * other processors.
 * @param limit milliseconds in which each map must be drawn
 */
export function createMapDrawing(limit = LIMIT_MS): Draw {
  let last: Promise<unknown> = Promise.resolve();
  return (what, signal) => {
    const drawn = last.then(() => draw(what, limit, signal));
    last = drawn.catch(() => {});
    return drawn;
  };
}

async function draw(what: ToDraw, limit: number, signal?: AbortSignal): Promise<Drawn> {
  signal?.throwIfAborted();
  const worker = new Worker(new URL(WORKER, import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<Drawn>();
  const failure = (reason: string) =>
    new AppError("unavailable", "The map could not be drawn.", { cause: new Error(reason) });
  const fail = (reason: string) => reject(failure(reason));
  worker.onmessage = ({ data }: MessageEvent<Drawn>) => resolve(data);
  worker.onerror = ({ message }) => fail(message);
  worker.addEventListener("close", () => fail("The thread ended."));
  signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  worker.postMessage(what, [what.vectors.buffer]);
  const late = () => {
    throw failure(`Drawing took longer than ${limit} ms.`);
  };
  return withTimeLimit(promise, limit, late).finally(() => worker.terminate());
}
