import type { Embedder } from "../../src/embedding/embedder.ts";

/**
 * An embedder for tests whose outcome does not depend on meaning: texts that share words are near
 * each other, the same text has the same vector, and every paragraph is a passage. `contents` are
 * all it was asked to embed.
 * @param model another one makes other vectors
 */
export function fakeEmbedder(
  model: { id?: string; dimension?: number } = {},
): Embedder & { readonly contents: string[] } {
  const { id = "fake", dimension = 16 } = model;
  const contents: string[] = [];
  return {
    contents,
    model: { id, dimension, cosines: { unrelated: 0, same: 1 } },
    ready: async () => {},
    embedQuery: async (text) => vectorOf(text, dimension),
    async embedContent(text) {
      contents.push(text);
      return text.split("\n\n").map((passage) => vectorOf(passage, dimension));
    },
    close: async () => {},
  };
}

/** Counts words by their hash; the last number keeps a text without words from having no length. */
function vectorOf(text: string, dimension: number): Float32Array {
  const vector = new Float32Array(dimension);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const place = Bun.hash.crc32(word) % (dimension - 1);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  vector[dimension - 1] = 0.1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
