import { LRUCache } from "lru-cache";
import { AppError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { isCompiled } from "../../native/embedded-asset.ts";
import { disableTelemetry } from "../../native/inference.ts";
import { hashOf } from "../../system/file-digest.ts";
import { withTimeLimit } from "../../timing/time-limit.ts";

/** What a later text is to an earlier one, or a memory to a question, as chances from 0 to 1. */
export interface Relation {
  /** It says the same. With `changed` and the chance of neither it adds up to 1. */
  readonly same: number;
  /** It is about the same fact, and says something else about it. */
  readonly changed: number;
  /** It tells what the earlier text asks for, which is a question. */
  readonly answers: number;
}

/**
 * Tells what a later text is to an earlier one; null when one is too long for the model. Rejects with `AppError` `unavailable`
 * while the model can't be used.
 * @param ahead the pairs that may wait before one that a search asks for: with more, and while many searches run, it is refused
 */
export type Relate = (earlier: string, later: string, ahead?: number) => Promise<Relation | null>;

/** Messages of the main thread to the worker. */
export type ToRelationWorker =
  | { type: "load"; cacheDir: string }
  | { type: "relate"; id: number; earlier: string; later: string }
  | { type: "close" };

/** Messages of the worker to the main thread. */
export type FromRelationWorker =
  | { id: number; relation: Relation | null }
  /** `isUnusable`: the model can't be loaded. */
  | { id: number; message: string; isUnusable: boolean };

/** Path of the worker's module. The executable has all other code at the root of its file system. */
const WORKER = isCompiled ? "./embedding/relations/relation-worker.js" : "./relation-worker.ts";
/** Milliseconds after which the worker ends that has nothing to do. It takes some 86 MB of memory. */
const IDLE_MS = 20_000;
/** Milliseconds after which a worker that could not be used is started again. */
const RETRY_MS = 30_000;
/** Milliseconds after which a worker counts as hanging, and those in which it should end. */
const ANSWER_MS = 30_000;
const END_MS = 5_000;
/**
 * The same for a worker that has not answered yet. The first one on a machine prepares the model, which takes some 3 s of
 * processor time: on a small machine that is busy, more than half a minute.
 */
const START_MS = 120_000;
/** Pairs that may wait before another one, so that nobody waits for long. */
const MAX_AHEAD = 63;
/** Pairs of texts whose relation is kept, by a hash: a deleted text stays in no cache. Each takes some 200 bytes. */
const KEPT = 10_000;

function spawnWorker(): Worker {
  disableTelemetry();
  return new Worker(new URL(WORKER, import.meta.url).href);
}

/** A worker, and the pairs that it has not answered. */
interface Running {
  worker: Worker;
  waiting: Map<number, PromiseWithResolvers<Relation | null>>;
  hasAnswered: boolean;
  ended: PromiseWithResolvers<void>;
}

/**
 * Tells relations by a model in a worker, which runs while it is needed. Recent answers are kept.
 * @param isBusy whether so many searches run that none of them should wait for the model
 * @param spawn starts the worker
 */
export function createRelater({
  cacheDir,
  log,
  isBusy = () => false,
  spawn = spawnWorker,
  idleMs = IDLE_MS,
}: {
  cacheDir: string;
  log: Log;
  isBusy?: () => boolean;
  spawn?: () => Worker;
  idleMs?: number;
}): { relate: Relate; close(): Promise<void> } {
  const recent = new LRUCache<string, Promise<Relation | null>>({ max: KEPT });
  let running: Running | null = null;
  let idle: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the last worker has ended. */
  let ending = Promise.resolve();
  let isClosed = false;
  let startAfter = 0;
  let lastId = 0;
  /** Pairs that wait, also for the worker to start. */
  let unanswered = 0;

  const end = (reason: string): void => {
    clearTimeout(idle);
    if (!running) return;
    const { worker, waiting, ended } = running;
    running = null;
    ending = ended.promise;
    // The worker ends itself: terminating its thread during a run makes ONNX Runtime abort the process.
    worker.postMessage({ type: "close" } satisfies ToRelationWorker);
    for (const { reject } of waiting.values()) reject(unavailable(reason));
  };

  const fail = (reason: string) => {
    log.error("relations_unavailable", { reason });
    startAfter = performance.now() + RETRY_MS;
    end(reason);
  };

  const start = (): Running => {
    const mine: Running = {
      worker: spawn(),
      waiting: new Map(),
      hasAnswered: false,
      ended: Promise.withResolvers(),
    };
    const { worker, waiting, ended } = mine;
    worker.onmessage = ({ data }: MessageEvent<FromRelationWorker>) => {
      mine.hasAnswered = true;
      const call = waiting.get(data.id);
      waiting.delete(data.id);
      if ("relation" in data) call?.resolve(data.relation);
      else {
        call?.reject(unavailable(data.message));
        if (running === mine && data.isUnusable) fail(data.message);
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
    idle = setTimeout(() => end("the worker had nothing to do"), idleMs).unref();
  };

  const ask = async (earlier: string, later: string): Promise<Relation | null> => {
    if (!running && performance.now() < startAfter)
      throw unavailable("the model could not be used");
    await withTimeLimit(ending, END_MS, () => {
      throw unavailable("the former worker has not ended");
    });
    if (isClosed) throw unavailable("the server is being stopped");
    clearTimeout(idle);
    running ??= start();
    const { worker, waiting, hasAnswered } = running;
    const call = Promise.withResolvers<Relation | null>();
    const id = ++lastId;
    waiting.set(id, call);
    worker.postMessage({ type: "relate", id, earlier, later } satisfies ToRelationWorker);
    return await withTimeLimit(call.promise, hasAnswered ? ANSWER_MS : START_MS, () => {
      const reason = "the worker does not answer";
      fail(reason);
      throw unavailable(reason);
    });
  };

  return {
    relate(earlier, later, ahead) {
      const key = hashOf(JSON.stringify([earlier, later]));
      const known = recent.get(key);
      if (known) return known;
      const isRefused = unanswered > (ahead ?? MAX_AHEAD) || (ahead !== undefined && isBusy());
      if (isRefused) return Promise.reject(unavailable("too many pairs of texts wait"));
      unanswered++;
      const relation = ask(earlier, later).finally(() => unanswered--);
      recent.set(key, relation);
      relation.catch(() => {
        if (recent.peek(key) === relation) recent.delete(key);
      });
      return relation;
    },
    async close() {
      isClosed = true;
      end("the server is being stopped");
      await withTimeLimit(ending, END_MS, () => {});
    },
  };
}

function unavailable(reason: string): AppError {
  return new AppError("unavailable", "Texts can't be compared now: try again in a moment.", {
    retryAfter: RETRY_MS / 1_000,
    cause: new Error(reason),
  });
}
