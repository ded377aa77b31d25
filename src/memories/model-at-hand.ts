import type { Embedder } from "../embedding/embedder.ts";

/** Milliseconds that a search waits for a model that is still being loaded. */
const MOMENT = 500;

/**
 * Tells whether the model is loaded, or is so within a moment. One that could not be loaded counts
 * too: whoever embeds is told why.
 */
export function watchModel(embedder: Pick<Embedder, "ready">): () => Promise<boolean> {
  let isAtHand = false;
  const noteEnd = () => {
    isAtHand = true;
  };
  const load = embedder.ready().then(noteEnd, noteEnd);
  return async () => {
    if (!isAtHand) await Promise.race([load, Bun.sleep(MOMENT)]);
    return isAtHand;
  };
}
