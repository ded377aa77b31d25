import {
  type Embedder,
  MAX_STATES,
  STATE_BYTES,
  type TokenStates,
} from "../../src/embedding/embedder.ts";
import { builtInModel } from "../../src/embedding/manifest.ts";

/** Characters of a passage. */
const PASSAGE = 2_000;

/**
 * Stands in for the built-in model where embedding so many texts would take hours: vectors of the
 * same length that look random, the same for the same text. It bears the model's name, so that a
 * server takes them for its own. The last query's is at hand when it is asked for again.
 */
export function createStandIn(): Embedder {
  let last = { text: "", embedding: queryOf("") };
  return {
    model: builtInModel,
    ready: async () => {},
    async embedQuery(text) {
      if (last.text !== text) last = { text, embedding: queryOf(text) };
      return last.embedding;
    },
    async embedContent(text) {
      const count = Math.ceil(text.length / PASSAGE);
      const starts = Array.from({ length: count }, (_, at) => at * PASSAGE);
      const vectors = starts.map((start) => vectorOf(text.slice(start, start + PASSAGE)));
      return { vectors, starts, states: statesOf(text).numbers };
    },
    relate: async () => null,
    close: async () => {},
  };
}

function queryOf(text: string) {
  return { vector: vectorOf(text), states: statesOf(text), understood: 1 };
}

/** States of the longer words, as many as the model's tokenizer gives content tokens, about. */
function statesOf(text: string): TokenStates {
  const words = (text.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).slice(0, MAX_STATES);
  const numbers = new Int8Array(words.length * STATE_BYTES);
  for (const [at, word] of words.entries()) {
    vectorOf(word, STATE_BYTES).forEach((value, place) => {
      numbers[at * STATE_BYTES + place] = Math.round(value * 127);
    });
  }
  return { numbers, words };
}

/** Marsaglia's xorshift over 32 bits, brought to length 1. */
function vectorOf(text: string, dimension = builtInModel.dimension): Float32Array {
  const vector = new Float32Array(dimension);
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
