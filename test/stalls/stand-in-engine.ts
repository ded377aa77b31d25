import type {
  Embeddings,
  FromWorker,
  TextKind,
  ToWorker,
} from "../../src/embedding/worker-connection.ts";
import { createStandIn } from "../bench/stand-in.ts";

declare const self: Worker;

/**
 * Runs inside a server (`bun --preload`): the stand-in for the model takes the place of the engine, in a thread of
 * its own and with the same messages. So the main thread does what it does with the model, and the processor does not
 * spend minutes on embeddings that nobody looks at.
 */
const ENGINE = /\/embedding\/worker\.[jt]s$/;
/** Milliseconds for a text, so that embeddings come one by one. */
const PACE = 1;

if (Bun.isMainThread) {
  const { Worker } = globalThis;
  globalThis.Worker = class extends Worker {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(ENGINE.test(String(url)) ? import.meta.url : url, options);
    }
  };
} else {
  const engine = createStandIn();
  const post = (message: FromWorker): void => self.postMessage(message);
  const embed = (type: TextKind, text: string): Promise<Embeddings[TextKind]> =>
    type === "query" ? engine.embedQuery(text) : engine.embedContent(text);
  let before: Promise<unknown> = Promise.resolve();
  self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
    if (data.type === "load") post({ type: "loaded" });
    else if (data.type === "close") process.exit();
    else if (data.type === "query" || data.type === "content") {
      const { type, id, text } = data;
      before = before
        .then(() => Bun.sleep(PACE))
        .then(() => embed(type, text))
        .then((embedding) => post({ type: "done", id, embedding }));
    }
  };
}
