import type { ModelManifest } from "./manifest.ts";

/** How a model must be used, which its graph does not say. */
export type Usage = Pick<ModelManifest, "pooling" | "prefixes">;

const NO_PREFIXES = { query: "", content: "" };
const E5_PREFIXES = { query: "query: ", content: "passage: " };
const NOMIC_PREFIXES = { query: "search_query: ", content: "search_document: " };

/** The usage of each model family, from the models' pages on Hugging Face. */
const FAMILIES: readonly [name: RegExp, usage: Usage][] = [
  [/nomic-embed/i, { pooling: "mean", prefixes: NOMIC_PREFIXES }],
  [/(^|[-/_])e5([-_]|$)/i, { pooling: "mean", prefixes: E5_PREFIXES }],
  [
    /MiniLM|mpnet|(^|[-/_])gte([-_]|$)|jina-embeddings/i,
    { pooling: "mean", prefixes: NO_PREFIXES },
  ],
  [/(^|[-/_])bge([-_]|$)|mxbai|arctic-embed/i, { pooling: "first token", prefixes: NO_PREFIXES }],
];

/** The usage of a model by its name; `null` when the family is unknown. */
export function modelUsage(name: string): Usage | null {
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}
