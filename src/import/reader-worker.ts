import { uploadedFile } from "./input-file.ts";
import { type Reading, readFiles, type SourceLine } from "./read-files.ts";
import { SourceError } from "./source.ts";
import type { FromReader, ReadingState, ToReader } from "./worker-messages.ts";

/** Lines, and characters of them, that are sent at once. */
const AT_ONCE = { lines: 256, characters: 1 << 20 };

declare const self: Worker;

let taken = Promise.withResolvers<void>();

self.onmessage = ({ data }: MessageEvent<ToReader>) => {
  if (data.type === "more") taken.resolve();
  else void read(data);
};

async function read({ files, project }: ToReader & { type: "read" }): Promise<void> {
  const inputs = files.map(({ name, called, file }) => ({ ...uploadedFile(file, name), called }));
  const reading = readFiles(inputs, { project });
  try {
    for await (const lines of inParts(reading)) {
      taken = Promise.withResolvers();
      send({ type: "lines", lines, about: stateOf(reading) });
      await taken.promise;
    }
    send({ type: "done", about: stateOf(reading) });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const problem = error instanceof SourceError ? error.problem : null;
    send({ type: "failed", name: "", problem, message, about: stateOf(reading) });
  }
}

async function* inParts({ lines }: Reading): AsyncGenerator<SourceLine[]> {
  let part: SourceLine[] = [];
  let characters = 0;
  for await (const line of lines) {
    part.push(line);
    characters += "line" in line ? line.line.length : 0;
    if (part.length < AT_ONCE.lines && characters < AT_ONCE.characters) continue;
    yield part;
    [part, characters] = [[], 0];
  }
  if (part.length > 0) yield part;
}

function stateOf({ files, leftOut, share }: Reading): ReadingState {
  return { files, leftOut: [...leftOut], share: share() };
}

function send(message: FromReader): void {
  self.postMessage(message);
}
