import { isCompiled } from "../native/embedded-asset.ts";
import type { Reading, SourceLine } from "./read-files.ts";
import { SourceError } from "./source.ts";
import type { FromReader, ReadingState, ToReader } from "./worker-messages.ts";

/** In the executable everything but the workers is one module, at the root of its file system. */
const WORKER = isCompiled ? "./import/reader-worker.js" : "./reader-worker.ts";

/** What reading may take: milliseconds without a word, and bytes of memory. */
const LIMITS = { silence: 60_000, memory: 512 << 20 };
/** How often that is looked at, in milliseconds. */
const INTERVAL = 100;

/**
 * Reads files that somebody has sent in a thread of its own: what takes long to unpack or to parse holds up
 * no request, and what takes too much is given up. Reads as it is asked.
 */
export function readInWorker(
  files: readonly File[],
  { project, limits = LIMITS }: { project: string | null; limits?: typeof LIMITS },
): Reading {
  const state: ReadingState = { files: [], leftOut: [], share: null };
  const reading: Reading = {
    lines: linesFrom(files, { project, limits }, (about) => {
      reading.files.splice(0, reading.files.length, ...about.files);
      for (const [reason, count] of about.leftOut) reading.leftOut.set(reason, count);
      state.share = about.share;
    }),
    files: [],
    leftOut: new Map(),
    share: () => state.share,
  };
  return reading;
}

async function* linesFrom(
  files: readonly File[],
  { project, limits }: { project: string | null; limits: typeof LIMITS },
  onState: (about: ReadingState) => void,
): AsyncGenerator<SourceLine> {
  const worker = new Worker(new URL(WORKER, import.meta.url).href);
  const send = (message: ToReader) => worker.postMessage(message);
  const isOne = files.length === 1;
  try {
    let answer = await askFor(worker, limits, () =>
      send({
        type: "read",
        files: files.map((file) => ({ name: isOne ? "" : file.name, called: file.name, file })),
        project,
      }),
    );
    for (;;) {
      onState(answer.about);
      if (answer.type === "done") return;
      if (answer.type === "failed") {
        if (answer.problem === null) throw new Error(answer.message);
        throw new SourceError(answer.name, answer.problem);
      }
      yield* answer.lines;
      answer = await askFor(worker, limits, () => send({ type: "more" }));
    }
  } finally {
    worker.terminate();
  }
}

/** @throws SourceError when it takes too much */
function askFor(worker: Worker, limits: typeof LIMITS, ask: () => void): Promise<FromReader> {
  const { promise, resolve, reject } = Promise.withResolvers<FromReader>();
  const started = performance.now();
  const before = process.memoryUsage.rss();
  const timer = setInterval(() => {
    if (performance.now() - started > limits.silence) {
      reject(new SourceError("", "takes too long to read"));
    } else if (process.memoryUsage.rss() - before > limits.memory) {
      reject(new SourceError("", "takes too much memory to read"));
    }
  }, INTERVAL);
  worker.onmessage = ({ data }: MessageEvent<FromReader>) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
  ask();
  return promise.finally(() => clearInterval(timer));
}
