import { layOut } from "./layout.ts";
import { findTopics } from "./topics.ts";
import type { Drawn, ToDraw } from "./worker-messages.ts";

// Ten thousand memories take four seconds, in which no request could be answered: it has a thread of its own.
declare const self: Worker;

self.onmessage = ({ data }: MessageEvent<ToDraw>) => {
  const places = layOut(data.vectors, data.dimension);
  const drawn: Drawn = { places, ...findTopics(places, data.texts) };
  self.postMessage(drawn);
};
