import type { Drawn, ToDraw } from "./draw-in-worker.ts";
import { layOut, placeAmong } from "./layout.ts";
import { findTopics } from "./topics.ts";

// Drawing ten thousand memories takes four seconds. On the main thread no request would be answered meanwhile.
declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToDraw>) => {
  const { vectors, dimension, texts, former } = data;
  const places = former
    ? placeAmong(vectors, dimension, former.places)
    : layOut(vectors, dimension);
  const drawn: Drawn = { places, ...findTopics(places, texts, former?.topics) };
  self.postMessage(drawn);
};
