import { messageOf } from "../errors.ts";
import { createHeapTrimmer } from "../system/c-library.ts";
import { lowerThreadPriority } from "../system/processes.ts";
import { type ContentEmbedding, MAX_STATES, STATE_BYTES } from "./embedder.ts";
import { createEmbeddingQueue, type Job } from "./embedding-queue.ts";
import { type Engine, loadEngine } from "./engine.ts";
import { prepareModel } from "./manifest.ts";
import type { Embeddings, FromWorker, TextKind, ToWorker } from "./worker-connection.ts";

// A run blocks its thread, so the engine has a thread of its own. The queue is here and not in the main
// thread, so that no run waits for a message.
declare const self: Worker;

/** The priority of a further engine: behind the server's other threads, and far behind while several accounts use it. */
const NICE = { further: 5, besideAccounts: 10 };

const queue = createEmbeddingQueue();
let engine: Engine | null = null;
let working = false;

/**
 * Milliseconds without work before the heap is trimmed. After long texts it has about 100 MB (measured) of
 * free memory that was not returned to the system.
 */
const IDLE_MS = 1_000;
const trimHeap = createHeapTrimmer();
let idle: ReturnType<typeof setTimeout> | undefined;

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  if (data.type === "load") void load(data);
  else if (data.type === "close") process.exit();
  else if (data.type === "cancel") queue.remove(data.id);
  else if (data.type === "give way") lowerThreadPriority(NICE.besideAccounts);
  else {
    queue.add({ ...data, passages: null, vectors: [], states: [] });
    void work();
  }
};

async function load(message: ToWorker & { type: "load" }): Promise<void> {
  const { cacheDir, manifest } = message;
  try {
    if (message.isFurther) lowerThreadPriority(NICE.further);
    const folder = await prepareModel({ cacheDir, manifest });
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
  for (let job = queue.next(); job !== null; job = queue.next()) {
    await advance(job, engine);
    // Receives the messages that arrived during the run, so that a query among them is next.
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  working = false;
  idle = setTimeout(trimHeap, IDLE_MS);
}

/** Makes one run of the model for a job. */
async function advance(job: Job, engine: Engine): Promise<void> {
  try {
    const embedding =
      job.type === "query" ? await engine.embedQuery(job.text) : await embedNext(job, engine);
    if (embedding === null) return;
    queue.remove(job.id);
    post({ type: "done", id: job.id, embedding }, buffersOf(embedding));
  } catch (error) {
    queue.remove(job.id);
    post({ type: "refused", id: job.id, message: messageOf(error) });
  }
}

/** Embeds the next passage of a content. Returns null while passages remain. */
async function embedNext(job: Job, engine: Engine): Promise<ContentEmbedding | null> {
  job.passages ??= await engine.split(job.text);
  const { passages, vectors, states } = job;
  const passage = passages[vectors.length];
  if (passage) {
    // States that earlier passages did not use are available to later ones.
    const share = Math.floor((MAX_STATES * (vectors.length + 1)) / passages.length);
    const used = states.reduce((sum, { length }) => sum + length / STATE_BYTES, 0);
    const embedded = await engine.embedPassage(passage.text, share - used);
    vectors.push(embedded.vector);
    states.push(embedded.states);
  }
  if (vectors.length < passages.length) return null;
  const starts = passages.map(({ start }) => start);
  return { vectors, starts, states: new Int8Array(Bun.concatArrayBuffers(states)) };
}

/** The buffers that are transferred instead of copied. */
function buffersOf(embedding: Embeddings[TextKind]): ArrayBufferLike[] {
  if ("vector" in embedding) return [embedding.vector.buffer, embedding.states.numbers.buffer];
  return [...embedding.vectors.map(({ buffer }) => buffer), embedding.states.buffer];
}

function post(message: FromWorker, transfer: ArrayBufferLike[] = []): void {
  self.postMessage(message, transfer as ArrayBuffer[]);
}
