import { stat } from "node:fs/promises";
import type { ImportedMemory } from "../memories/memory.ts";
import { basicMemory } from "./basic-memory.ts";
import type { Found } from "./format.ts";
import { recognise } from "./formats.ts";
import { listNotes, readNotes } from "./note-folder.ts";
import { openFile, openStream, SourceError } from "./source.ts";
import { convert } from "./to-line.ts";

/** What can be imported, whatever it was. */
export interface Source {
  /** What it is, for people. */
  name: string;
  /** Bytes in all; null when that is not known. */
  size: number | null;
  /** Bytes read so far. */
  bytesRead: () => number;
  /** What is in it, in its order. */
  lines: AsyncGenerator<SourceLine>;
  /** What is left out on purpose, for people. */
  remarks: string[];
}

/** What is found at a place: a line of JSON as the server takes it, or what is wrong with it. */
export type SourceLine = { at: string } & (
  | { line: string; notes: readonly string[] }
  | { problem: string }
);

/**
 * Opens a file, a folder of notes or, as `-`, standard input, and finds out what it is.
 * @throws SourceError
 */
export async function openSource(path: string): Promise<Source> {
  let bytes = 0;
  const onRead = (count: number) => {
    bytes += count;
  };
  const bytesRead = () => bytes;
  const about = path === "-" ? null : await look(path);
  if (about?.isDirectory()) {
    const { notes, others } = await listNotes(path);
    if (notes.length === 0) throw new SourceError(path, "has no Markdown files");
    const found = readNotes(path, notes, onRead);
    return {
      name: "a folder of notes",
      size: null,
      bytesRead,
      lines: toLines(basicMemory.origin, found),
      remarks: others > 0 ? [`files that are not Markdown: ${others}`] : [],
    };
  }
  const source = about
    ? await openFile(path, "", onRead)
    : await openStream(Bun.stdin.stream(), "", onRead);
  const { name, origin, read } = recognise(source);
  const lines = toLines(origin, read(source));
  return { name, size: about?.size ?? null, bytesRead, lines, remarks: [] };
}

async function look(path: string) {
  try {
    return await stat(path);
  } catch (cause) {
    const isMissing = cause instanceof Error && "code" in cause && cause.code === "ENOENT";
    throw new SourceError(path, isMissing ? "is not there" : "can't be read", { cause });
  }
}

async function* toLines(origin: string, found: AsyncIterable<Found>): AsyncGenerator<SourceLine> {
  for await (const one of found) {
    const { at } = one;
    if ("problem" in one) yield one;
    else if ("line" in one) yield { at, line: one.line, notes: [] };
    else {
      const { memories, notes } = convert(origin, one.memory);
      if (memories.length === 0) yield { at, problem: "has no text" };
      for (const memory of memories) yield { at, line: toJson(memory), notes };
    }
  }
}

function toJson(memory: ImportedMemory): string {
  return JSON.stringify(memory);
}
