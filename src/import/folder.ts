import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileAt, type InputFile } from "./input-file.ts";
import { SourceError } from "./source.ts";

/**
 * The files in a folder and its subfolders, sorted by name. Hidden files are left out, and links too:
 * in a foreign folder they could lead anywhere.
 */
export async function listFolder(folder: string): Promise<string[]> {
  return (await listFiles(folder)).map((path) => relative(folder, path)).sort();
}

async function listFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  const entries = await readdir(folder, { withFileTypes: true }).catch((cause) => {
    throw new SourceError(folder, "can't be read", { cause });
  });
  // The option `recursive` would follow links to folders.
  for (const entry of entries) {
    if (entry.name.startsWith(".")) continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) files.push(...(await listFiles(path)));
    else if (entry.isFile()) files.push(path);
  }
  return files;
}

/** @throws SourceError when a file no longer exists */
export function filesIn(folder: string, names: readonly string[]): Promise<InputFile[]> {
  return Promise.all(names.map((name) => fileAt(join(folder, name), name)));
}
