import { mkdir, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { moveFile } from "../system/files.ts";

/** Replaces a file of the data folder atomically: a reader sees all of the old text or all of the new. */
export async function writeJsonFile(path: string, text: string): Promise<void> {
  const part = `${path}.part-${process.pid}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(part, `${text}\n`, { mode: 0o600, flush: true });
  await moveFile(part, path);
}
