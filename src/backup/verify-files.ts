import { join } from "node:path";
import { BackupError } from "./backup-error.ts";
import type { Progress } from "./create-backup.ts";
import { type Content, forEach, readContent } from "./files.ts";
import { MANIFEST, type Manifest } from "./manifest.ts";

/**
 * Reads every file of a backup and compares its checksum.
 * @throws BackupError that names the first file that is not as the manifest says
 */
export async function verifyFiles(
  folder: string,
  manifest: Manifest,
  options: { signal?: AbortSignal | undefined; onProgress?: Progress } = {},
): Promise<void> {
  const { signal, onProgress } = options;
  let count = 0;
  await forEach(manifest.files, async (file) => {
    signal?.throwIfAborted();
    onProgress?.({ step: "checking files", count: ++count, total: manifest.files.length });
    requireSame(file, await readContent(join(folder, file.path)), folder);
  });
}

/** @throws BackupError when what was found is not the file of the manifest */
export function requireSame(
  file: Manifest["files"][number],
  found: Content | null,
  folder: string,
): void {
  const path = join(folder, file.path);
  if (found === null) {
    throw new BackupError(`${path} is missing: this backup is incomplete, use another.`);
  }
  if (found.bytes === file.bytes && found.sha256 === file.sha256) return;
  throw new BackupError(`${path} is not as ${MANIFEST} says: this backup is damaged, use another.`);
}
