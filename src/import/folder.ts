import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileAt, type InputFile } from "./input-file.ts";
import { SourceError } from "./source.ts";

/**
 * The files in a folder and in its folders, by their names, hidden ones left out. Links are left out
 * too: a folder that somebody else has made could lead anywhere by them.
 */
export async function listFolder(folder: string): Promise<string[]> {
  return (await listFiles(folder)).map((path) => relative(folder, path)).sort();
}

async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    throw new SourceError(folder, "can't be read", { cause });
  });
  // Not by the system's own recursion, which follows links to folders.
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await listFiles(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

/** @throws SourceError when one has gone meanwhile */
export function filesIn(folder: string, names: readonly string[]): Promise<InputFile[]> {
  return Promise.all(names.map((name) => fileAt(join(folder, name), name)));
}
