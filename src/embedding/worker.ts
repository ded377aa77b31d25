import { messageOf } from "../errors.ts";
import { createHeapTrimmer } from "../native/c-library.ts";
import { type Engine, loadEngine } from "./engine.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import { prepareModel } from "./model.ts";
import { createSchedule, type Job } from "./schedule.ts";

// A run blocks its thread, so the engine has this one to itself. Texts wait here and not in the main
// thread: the next one is always at hand, and no run waits for a message.
declare const self: Worker;

const schedule = createSchedule();
let engine: Engine | null = null;
let working = false;

/** After a run of long texts about 100 MB are free but not given back, measured: done when idle. */
const IDLE_MS = 1_000;
const trimHeap = createHeapTrimmer();
let idle: ReturnType<typeof setTimeout> | undefined;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "load") void load(data);
  else if (data.type === "close") process.exit();
  else {
    schedule.add({ ...data, passages: null, vectors: [] });
    void work();
  }
};

async function load({
  cacheDir,
  manifest,
  modelSource,
}: ToWorker & { type: "load" }): Promise<void> {
  try {
    const folder = await prepareModel({ cacheDir, manifest, source: modelSource });
    engine = await loadEngine(manifest, folder, cacheDir);
    post({ type: "loaded" });
    void work();
  } catch (error) {
    post({ type: "failed", message: messageOf(error) });
  }
}

async function work(): Promise<void> {
  if (working || !engine) return;
  working = true;
  clearTimeout(idle);
  for (let job = schedule.next(); job !== null; job = schedule.next()) {
    await advance(job, engine);
    // Messages that came during the run are delivered now, so that a query among them is next.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  working = false;
  idle = setTimeout(trimHeap, IDLE_MS);
}

/** Takes a job further by one run of the model. */
async function advance(job: Job, engine: Engine): Promise<void> {
  try {
    if (job.type === "query") {
      job.vectors.push(await engine.embedQuery(job.text));
    } else {
      job.passages ??= await engine.split(job.text);
      const passage = job.passages.shift();
      if (passage !== undefined) job.vectors.push(await engine.embedPassage(passage));
      if (job.passages.length > 0) return;
    }
    schedule.remove(job);
    const vectors = concatenate(job.vectors);
    const count = job.vectors.length;
    post({ type: "done", id: job.id, count, vectors }, [vectors.buffer]);
  } catch (error) {
    schedule.remove(job);
    post({ type: "refused", id: job.id, message: messageOf(error) });
  }
}

function concatenate(vectors: readonly Float32Array[]): Float32Array<ArrayBuffer> {
  const dimension = vectors[0]?.length ?? 0;
  const all = new Float32Array(vectors.length * dimension);
  for (const [index, vector] of vectors.entries()) all.set(vector, index * dimension);
  return all;
}

function post(message: FromWorker, transfer: ArrayBuffer[] = []): void {
  self.postMessage(message, transfer);
}
