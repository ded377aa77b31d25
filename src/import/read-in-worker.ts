import { isCompiled } from "../native/embedded-asset.ts";
import { SourceError } from "./files/source.ts";
import type { ReadFile, Reading, SourceLine } from "./read-files.ts";

/** Messages to the worker: the files to read, or that the last lines were processed. */
export type ToReader =
  | {
      type: "read";
      files: { name: string; fileName: string; file: File }[];
      project: string | null;
    }
  | { type: "more" };

/** Messages from the worker: lines, then how the reading ended. */
export type FromReader =
  | { type: "lines"; lines: SourceLine[]; state: ReadingState }
  | { type: "done"; state: ReadingState }
  /** `problem` is that of a `SourceError`; null for an unexpected error. */
  | { type: "failed"; problem: string | null; message: string; state: ReadingState };

/** The fields of `Reading` without its lines, in a form that can be posted. */
export interface ReadingState {
  /** The files from the number `from` on. Those before it are as they were. */
  files: ReadFile[];
  from: number;
  leftOut: [string, number][];
  share: number | null;
}

/** In the executable, all code but the workers is one module at the root of its file system. */
const WORKER = isCompiled ? "./import/reader-worker.js" : "./reader-worker.ts";

/** Limits of the worker: milliseconds for each answer, and bytes of additional memory. */
const LIMITS = { silence: 60_000, memory: 512 << 20 };
/** Milliseconds between two checks of these limits. */
const CHECK_MS = 100;

/**
 * Reads uploaded files in a worker: unpacking and parsing do not block requests, and a file that takes
 * too much time or memory is given up. Reads lazily.
 */
export function readInWorker(
  files: readonly File[],
  { project, limits = LIMITS }: { project: string | null; limits?: typeof LIMITS },
): Reading {
  let share: number | null = null;
  const reading: Reading = { lines: lines(), files: [], leftOut: new Map(), share: () => share };
  return reading;

  async function* lines(): AsyncGenerator<SourceLine> {
    const worker = new Worker(new URL(WORKER, import.meta.url).href);
    const ask = (message: ToReader) => askWorker(worker, message, limits);
    const isOnly = files.length === 1;
    try {
      let answer = await ask({
        type: "read",
        files: files.map((file) => ({ name: isOnly ? "" : file.name, fileName: file.name, file })),
        project,
      });
      while (answer.type === "lines") {
        note(answer.state);
        yield* answer.lines;
        answer = await ask({ type: "more" });
      }
      note(answer.state);
      if (answer.type === "failed") {
        if (answer.problem === null) throw new Error(answer.message);
        throw new SourceError("", answer.problem);
      }
    } finally {
      worker.terminate();
    }
  }

  function note(state: ReadingState): void {
    reading.files.length = state.from;
    for (const file of state.files) reading.files.push(file);
    for (const [reason, count] of state.leftOut) reading.leftOut.set(reason, count);
    share = state.share;
  }
}

/**
 * Sends a message and waits for the worker's answer.
 * @throws SourceError when the worker exceeds its limits
 */
function askWorker(worker: Worker, message: ToReader, limits: typeof LIMITS): Promise<FromReader> {
  const { promise, resolve, reject } = Promise.withResolvers<FromReader>();
  const started = performance.now();
  const memoryBefore = process.memoryUsage.rss();
  const timer = setInterval(() => {
    if (performance.now() - started > limits.silence) {
      reject(new SourceError("", "takes too long to read"));
    } else if (process.memoryUsage.rss() - memoryBefore > limits.memory) {
      reject(new SourceError("", "takes too much memory to read"));
    }
  }, CHECK_MS);
  worker.onmessage = ({ data }: MessageEvent<FromReader>) => resolve(data);
  worker.onerror = ({ message: text }) => reject(new Error(text));
  worker.postMessage(message);
  return promise.finally(() => clearInterval(timer));
}
