import { withTimeLimit } from "../timing/time-limit.ts";
import type { Embedder } from "./embedder.ts";

/** Milliseconds that a search waits for a model that is being loaded. */
const LOAD_TIMEOUT_MS = 500;

/** Returns a function that checks whether a model is ready; see `createCheck`. */
export function createReadinessCheck(): (embedder: Pick<Embedder, "ready">) => Promise<boolean> {
  const checks = new WeakMap<object, () => Promise<boolean>>();
  return (embedder) => {
    const check = checks.get(embedder) ?? createCheck(embedder);
    checks.set(embedder, check);
    return check();
  };
}

/**
 * Returns a function that resolves to whether the model is loaded, now or within the time limit. A model
 * that failed to load counts as ready: embedding a text then reports the reason.
 */
function createCheck(embedder: Pick<Embedder, "ready">): () => Promise<boolean> {
  let isReady = false;
  const markReady = () => {
    isReady = true;
  };
  const load = embedder.ready().then(markReady, markReady);
  return async () => {
    if (!isReady) await withTimeLimit(load, LOAD_TIMEOUT_MS, () => {});
    return isReady;
  };
}
