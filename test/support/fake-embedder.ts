import { type Embedder, MAX_STATES, STATE_BYTES } from "../../src/embedding/embedder.ts";

/**
 * An embedder for tests whose outcome does not depend on meaning: texts that share words are near
 * each other, the same text has the same vector, every paragraph is a passage, and the same word has
 * the same state. `contents` are
 * all it was asked to embed.
 * @param model another one makes other vectors
 */
export function fakeEmbedder(
  model: { id?: string; dimension?: number; formerIds?: string[] } = {},
): Embedder & { readonly contents: string[] } {
  const { id = "fake", dimension = 16, formerIds = [] } = model;
  const contents: string[] = [];
  return {
    contents,
    model: { id, dimension, formerIds, cosines: { unrelated: 0, same: 1 } },
    ready: async () => {},
    embedQuery: async (text) => ({
      vector: vectorOf(text, dimension),
      states: { numbers: statesOf(text), words: wordsOf(text) },
      understood: 1,
    }),
    async embedContent(text) {
      contents.push(text);
      const passages = text.split("\n\n");
      let start = 0;
      const starts = passages.map((passage) => {
        start += passage.length + 2;
        return start - passage.length - 2;
      });
      const vectors = passages.map((passage) => vectorOf(passage, dimension));
      return { vectors, starts, states: statesOf(text).slice(0, MAX_STATES * STATE_BYTES) };
    },
    relate: async () => null,
    close: async () => {},
  };
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

/** A state has one number that is not 0. */
function statesOf(text: string): Int8Array {
  const words = wordsOf(text);
  const states = new Int8Array(words.length * STATE_BYTES);
  for (const [at, word] of words.entries())
    states[at * STATE_BYTES + (Bun.hash.crc32(word) % STATE_BYTES)] = 127;
  return states;
}

/** Counts words by their hash; the last number keeps a text without words from having no length. */
function vectorOf(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of wordsOf(text)) {
    const place = Bun.hash.crc32(word) % (dimension - 1);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  vector[dimension - 1] = 0.1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
