import type { Drawn, ToDraw } from "./draw-in-worker.ts";
import { layOut } from "./layout.ts";
import { findTopics } from "./topics.ts";

// Drawing ten thousand memories takes four seconds. On the main thread no request would be answered meanwhile.
declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToDraw>) => {
  const places = layOut(data.vectors, data.dimension);
  const drawn: Drawn = { places, ...findTopics(places, data.texts) };
  self.postMessage(drawn);
};
