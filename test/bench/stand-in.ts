import type { Embedder } from "../../src/embedding/embedder.ts";
import { builtInModel } from "../../src/embedding/manifest.ts";

/** Characters of a passage. */
const PASSAGE = 2_000;

/**
 * Stands in for the built-in model where embedding so many texts would take hours: vectors of the
 * same length that look random, the same for the same text. It bears the model's name, so that a
 * server takes them for its own. The last query's vector is at hand when it is asked for again.
 */
export function createStandIn(): Embedder {
  let last = { text: "", vector: vectorOf("") };
  return {
    model: builtInModel,
    ready: async () => {},
    async embedQuery(text) {
      if (last.text !== text) last = { text, vector: vectorOf(text) };
      return last.vector;
    },
    async embedContent(text) {
      const passages = Math.ceil(text.length / PASSAGE);
      return Array.from({ length: passages }, (_, at) =>
        vectorOf(text.slice(at * PASSAGE, (at + 1) * PASSAGE)),
      );
    },
    close: async () => {},
  };
}

/** Marsaglia's xorshift over 32 bits, brought to length 1. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(builtInModel.dimension);
  let state = Bun.hash.xxHash32(text) | 1;
  let squares = 0;
  for (let at = 0; at < vector.length; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const value = state / 2 ** 31;
    vector[at] = value;
    squares += value * value;
  }
  const length = Math.sqrt(squares);
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
}
