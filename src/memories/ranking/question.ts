import type { Decay } from "../../config.ts";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import type { Term } from "../indexes/words.ts";
import type { SearchMode } from "./mode.ts";

/** What a ranking goes by besides the memories. */
export interface Question {
  text: string;
  mode: SearchMode;
  model: Pick<EmbeddingModel, "cosines">;
  /** The words that it goes by; none when it goes by meaning alone. */
  terms: readonly Term[];
  /** The share of the question that the model knows, 0 to 1. */
  understood: number;
  /** Memories of the account, for what a word's rareness is worth. */
  memories: number;
  /** Milliseconds since 1970. */
  now: number;
  /** `null` ranks without regard to age. */
  decay: Decay | null;
}
