import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { basicMemory } from "./basic-memory.ts";
import type { Found } from "./format.ts";
import { openFile, SourceError } from "./source.ts";

/** The text files in a folder and in its folders, hidden ones left out, and how many others there are. */
export async function listNotes(folder: string): Promise<{ notes: string[]; others: number }> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !/(^|\/)\./.test(path))
    .sort();
  const notes = paths.filter((path) => /\.(md|markdown|txt)$/i.test(path));
  return { notes, others: paths.length - notes.length };
}

/** Reads notes one after the other; one that can't be read is a problem, and the others are read. */
export async function* readNotes(
  folder: string,
  notes: readonly string[],
  onRead: (bytes: number) => void,
): AsyncGenerator<Found> {
  for (const name of notes) {
    try {
      yield* basicMemory.read(await openFile(join(folder, name), name, onRead));
    } catch (error) {
      if (!(error instanceof SourceError)) throw error;
      yield { at: name, problem: error.problem };
    }
  }
}
