import { withTimeLimit } from "../time-limit.ts";
import type { Embedder } from "./embedder.ts";

/** Milliseconds that a search waits for a model that is still being loaded. */
const MOMENT = 500;

/** Asks the same for each of several models; see `watchModel`. */
export function createReadinessCheck(): (embedder: Pick<Embedder, "ready">) => Promise<boolean> {
  const watches = new WeakMap<object, () => Promise<boolean>>();
  return (embedder) => {
    const watch = watches.get(embedder) ?? watchModel(embedder);
    watches.set(embedder, watch);
    return watch();
  };
}

/**
 * Tells whether the model is loaded, or is so within a moment. One that could not be loaded counts
 * too: whoever embeds is told why.
 */
function watchModel(embedder: Pick<Embedder, "ready">): () => Promise<boolean> {
  let isAtHand = false;
  const noteEnd = () => {
    isAtHand = true;
  };
  const load = embedder.ready().then(noteEnd, noteEnd);
  return async () => {
    if (!isAtHand) await withTimeLimit(load, MOMENT, () => {});
    return isAtHand;
  };
}
