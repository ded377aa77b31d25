import type { Topics } from "./topics.ts";

/** What a map is drawn of. */
export interface ToDraw {
  /** One after the other, of length 1. */
  vectors: Float32Array<ArrayBuffer>;
  /** Numbers of a vector. */
  dimension: number;
  /** The beginnings of the memories. */
  texts: string[];
}

export interface Drawn extends Topics {
  /** x and y of each memory, 0 to 1. */
  places: Float32Array<ArrayBuffer>;
}
