import { AppError } from "../../errors.ts";
import { isCompiled } from "../../native/embedded-asset.ts";
import type { Drawn, ToDraw } from "./worker-messages.ts";

/** In the executable all modules but the workers are one module, at the root of its file system. */
const WORKER = isCompiled ? "./memories/map/map-worker.js" : "./map-worker.ts";

export type Draw = (what: ToDraw) => Promise<Drawn>;

/**
 * Creates a function that draws maps in one worker, one after the other, so that embedding and searching keep the
 * other processors.
 */
export function createMapDrawing(): Draw {
  let last: Promise<unknown> = Promise.resolve();
  return (what) => {
    const drawn = last.then(() => draw(what));
    last = drawn.catch(() => {});
    return drawn;
  };
}

function draw(what: ToDraw): Promise<Drawn> {
  const worker = new Worker(new URL(WORKER, import.meta.url).href);
  const { promise, resolve, reject } = Promise.withResolvers<Drawn>();
  const fail = (reason: string) =>
    reject(
      new AppError("unavailable", "The map could not be drawn.", { cause: new Error(reason) }),
    );
  worker.onmessage = ({ data }: MessageEvent<Drawn>) => resolve(data);
  worker.onerror = ({ message }) => fail(message);
  worker.addEventListener("close", () => fail("The thread ended."));
  worker.postMessage(what, [what.vectors.buffer]);
  return promise.finally(() => worker.terminate());
}
