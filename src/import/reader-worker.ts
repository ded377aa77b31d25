import { uploadedFile } from "./files/input-file.ts";
import { SourceError } from "./files/source.ts";
import { type Reading, readFiles } from "./read-files.ts";
import type { FromReader, ReadingState, ToReader } from "./read-in-worker.ts";
import { inBatches } from "./transfer.ts";

const BATCH = { lines: 256, characters: 1 << 20 };

declare const self: Worker;

/** Resolves when the main thread has processed the last batch. */
let processed = Promise.withResolvers<void>();

self.onmessage = ({ data }: MessageEvent<ToReader>) => {
  if (data.type === "more") processed.resolve();
  else void read(data);
};

async function read({ files, project }: ToReader & { type: "read" }): Promise<void> {
  const inputs = files.map(({ name, fileName, file }) => ({
    ...uploadedFile(file, name),
    fileName,
  }));
  const reading = readFiles(inputs, { project });
  try {
    for await (const lines of inBatches(reading.lines, BATCH)) {
      processed = Promise.withResolvers();
      send({ type: "lines", lines, state: stateOf(reading) });
      await processed.promise;
    }
    send({ type: "done", state: stateOf(reading) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const problem = error instanceof SourceError ? error.problem : null;
    send({ type: "failed", problem, message, state: stateOf(reading) });
  }
}

/** The file that was being read at the last message. It and those after it may have changed. */
let current = 0;

function stateOf({ files, leftOut, share }: Reading): ReadingState {
  const from = current;
  current = Math.max(0, files.length - 1);
  return { files: files.slice(from), from, leftOut: [...leftOut], share: share() };
}

function send(message: FromReader): void {
  self.postMessage(message);
}
