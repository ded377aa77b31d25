import type { Embedder } from "../../src/embedding/embedder.ts";

const DIMENSION = 16;

/**
 * An embedder for tests whose outcome does not depend on meaning: texts that share words are near
 * each other, the same text has the same vector, and every paragraph is a passage. `contents` are
 * all it was asked to embed.
 */
export function fakeEmbedder(): Embedder & { readonly contents: string[] } {
  const contents: string[] = [];
  return {
    contents,
    model: { id: "fake", dimension: DIMENSION, cosines: { unrelated: 0, same: 1 } },
    ready: async () => {},
    embedQuery: async (text) => vectorOf(text),
    async embedContent(text) {
      contents.push(text);
      return text.split("\n\n").map(vectorOf);
    },
    close: async () => {},
  };
}

/** Counts words by their hash; the last number keeps a text without words from having no length. */
function vectorOf(text: string): Float32Array {
  const vector = new Float32Array(DIMENSION);
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
    const place = Bun.hash.crc32(word) % (DIMENSION - 1);
    vector[place] = (vector[place] ?? 0) + 1;
  }
  vector[DIMENSION - 1] = 0.1;
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
