import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { basicMemory } from "./basic-memory.ts";
import type { Found } from "./format.ts";
import { openFile, SourceError } from "./source.ts";

/**
 * The text files in a folder and in its folders, hidden ones left out, and how many others there are.
 * Links are left out too: a folder that somebody else has made could lead anywhere by them.
 */
export async function listNotes(folder: string): Promise<{ notes: string[]; others: number }> {
  const paths = (await listFiles(folder)).map((path) => relative(folder, path)).sort();
  const notes = paths.filter((path) => /\.(md|markdown|txt)$/i.test(path));
  return { notes, others: paths.length - notes.length };
}

async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  // Not by the system's own recursion, which follows links to folders.
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await listFiles(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
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
