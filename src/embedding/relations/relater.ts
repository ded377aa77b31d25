import { LRUCache } from "lru-cache";
import { AppError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { isCompiled } from "../../native/embedded-asset.ts";
import { disableTelemetry } from "../../native/inference.ts";
import { hashOf } from "../../system/file-digest.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";

/** What a later text is to an earlier one, as chances from 0 to 1; what is left of 1 is that it is neither. */
export interface Relation {
  /** It says the same. */
  readonly same: number;
  /** It is about the same fact, and says something else about it. */
  readonly changed: number;
}

/** Tells what a later text is to an earlier one. Rejects with `AppError` `unavailable` while the model can't be used. */
export type Relate = (earlier: string, later: string) => Promise<Relation>;

/** Messages of the main thread to the worker. */
export type ToRelationWorker =
  | { type: "load"; cacheDir: string }
  | { type: "relate"; id: number; earlier: string; later: string }
  | { type: "close" };

/** Messages of the worker to the main thread. */
export type FromRelationWorker =
  | { id: number; relation: Relation }
  | { id: number; message: string };

/** Path of the worker's module. The executable has all other code at the root of its file system. */
const WORKER = isCompiled ? "./embedding/relations/relation-worker.js" : "./relation-worker.ts";
/** Milliseconds after which the worker ends that has nothing to do. It takes some 85 MB of memory. */
const IDLE_MS = 20_000;
/** Milliseconds after which a worker that could not be used is started again. */
const RETRY_MS = 30_000;
/** Milliseconds after which a worker counts as hanging: upkeep waits for it. */
const ANSWER_MS = 20_000;
/** Pairs that may wait, so that one account's many requests delay those of others by a quarter of a second at most. */
const MAX_WAITING = 64;
/** Pairs of texts whose relation is kept, by a hash: a deleted text stays in no cache. Each takes some 200 bytes. */
const KEPT = 10_000;

function spawnWorker(): Worker {
  disableTelemetry();
  return new Worker(new URL(WORKER, import.meta.url).href);
}

/** A worker, and the pairs that it has not answered. */
interface Running {
  worker: Worker;
  waiting: Map<number, PromiseWithResolvers<Relation>>;
  ended: PromiseWithResolvers<void>;
}

/**
 * Tells relations by a model in a worker, which runs while it is needed. Recent answers are kept.
 * @param spawn starts the worker
 */
export function createRelater({
  cacheDir,
  log,
  spawn = spawnWorker,
  idleMs = IDLE_MS,
}: {
  cacheDir: string;
  log: Log;
  spawn?: () => Worker;
  idleMs?: number;
}): { relate: Relate; close(): Promise<void> } {
  const recent = new LRUCache<string, Promise<Relation>>({ max: KEPT });
  let running: Running | null = null;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let startAfter = 0;
  let lastId = 0;

  const end = (reason: string): Promise<void> => {
    clearTimeout(idle);
    const ending = running;
    running = null;
    if (!ending) return Promise.resolve();
    // The worker ends itself: terminating its thread during a run makes ONNX Runtime abort the process.
    ending.worker.postMessage({ type: "close" } satisfies ToRelationWorker);
    for (const { reject } of ending.waiting.values()) reject(unavailable(reason));
    return ending.ended.promise;
  };

  const fail = (reason: string) => {
    log.error("relations_unavailable", { reason });
    startAfter = performance.now() + RETRY_MS;
    void end(reason);
  };

  const start = (): Running => {
    const mine: Running = { worker: spawn(), waiting: new Map(), ended: Promise.withResolvers() };
    const { worker, waiting, ended } = mine;
    worker.onmessage = ({ data }: MessageEvent<FromRelationWorker>) => {
      const call = waiting.get(data.id);
      waiting.delete(data.id);
      if ("relation" in data) call?.resolve(data.relation);
      else {
        call?.reject(unavailable(data.message));
        if (running === mine) fail(data.message);
      }
      if (running === mine && waiting.size === 0) endWhenIdle();
    };
    worker.onerror = ({ message }) => {
      if (running === mine) fail(message);
    };
    worker.addEventListener("close", () => {
      ended.resolve();
      if (running === mine) fail("the worker of relations ended");
    });
    worker.postMessage({ type: "load", cacheDir } satisfies ToRelationWorker);
    return mine;
  };

  const endWhenIdle = () => {
    idle = setTimeout(() => void end("the worker had nothing to do"), idleMs).unref();
  };

  const ask: Relate = async (earlier, later) => {
    if (!running && performance.now() < startAfter) throw unavailable("it rests");
    clearTimeout(idle);
    running ??= start();
    if (running.waiting.size >= MAX_WAITING) throw unavailable("too many wait");
    const call = Promise.withResolvers<Relation>();
    const id = ++lastId;
    running.waiting.set(id, call);
    running.worker.postMessage({ type: "relate", id, earlier, later } satisfies ToRelationWorker);
    return await withTimeLimit(call.promise, ANSWER_MS, () => {
      const reason = "the worker does not answer";
      fail(reason);
      throw unavailable(reason);
    });
  };

  return {
    relate(earlier, later) {
      const key = hashOf(JSON.stringify([earlier, later]));
      const known = recent.get(key);
      if (known) return known;
      const relation = ask(earlier, later);
      recent.set(key, relation);
      relation.catch(() => {
        if (recent.peek(key) === relation) recent.delete(key);
      });
      return relation;
    },
    close: () => end("the server is being stopped"),
  };
}

function unavailable(reason: string): AppError {
  return new AppError("unavailable", "Texts can't be compared now: try again in a moment.", {
    retryAfter: RETRY_MS / 1_000,
    cause: new Error(reason),
  });
}
