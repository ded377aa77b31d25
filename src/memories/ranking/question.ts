import type { Decay } from "../../config/config.ts";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Term } from "../indexes/words.ts";

export const SEARCH_MODES = ["hybrid", "semantic", "keyword"] as const;
export type SearchMode = (typeof SEARCH_MODES)[number];

/** The input of a ranking besides the memories. */
export interface Question {
  text: string;
  mode: SearchMode;
  model: Pick<EmbeddingModel, "cosines">;
  /** The words to search; none in a search by meaning alone. */
  terms: readonly Term[];
  /** The share of the question that the model knows, 0 to 1. */
  understood: number;
  /** Number of memories of the account, which decides how much the rareness of a word counts. */
  memories: number;
  /** Milliseconds since 1970. */
  now: number;
  /** `null` ignores age. */
  decay: Decay | null;
}
