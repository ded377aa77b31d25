import type { Topics } from "./topics.ts";

/** The input of a map. */
export interface ToDraw {
  /** The vectors one after the other, each of length 1. */
  vectors: Float32Array<ArrayBuffer>;
  /** Dimension of a vector. */
  dimension: number;
  /** The beginnings of the memories. */
  texts: string[];
}

export interface Drawn extends Topics {
  /** x and y of each memory, 0 to 1. */
  places: Float32Array<ArrayBuffer>;
}
