import { messageOf } from "../../errors.ts";
import { lowerThreadPriority } from "../../system/processes.ts";
import type { FromRelationWorker, ToRelationWorker } from "./relater.ts";
import { loadRelationEngine, type RelationEngine } from "./relation-engine.ts";

// A run blocks its thread, and questions must not wait for it, so it has neither the main thread nor the engine's.
declare const self: Worker;

/** The priority of the thread: behind the server's other ones. */
const NICE = 5;

let engine: Promise<RelationEngine> | null = null;

self.onmessage = ({ data }: MessageEvent<ToRelationWorker>) => {
  if (data.type === "load") {
    lowerThreadPriority(NICE);
    engine = loadRelationEngine(data.cacheDir);
  } else if (data.type === "close") process.exit();
  else void relate(data);
};

async function relate({
  id,
  earlier,
  later,
}: ToRelationWorker & { type: "relate" }): Promise<void> {
  const post = (message: FromRelationWorker) => self.postMessage(message);
  const loaded = await engine?.catch((error) => {
    post({ id, message: messageOf(error), isUnusable: true });
  });
  if (!loaded) return;
  try {
    post({ id, relation: await loaded.relate(earlier, later) });
  } catch (error) {
    post({ id, message: messageOf(error), isUnusable: false });
  }
}
