import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { BackupError } from "./backup-error.ts";
import type { Progress } from "./create-backup.ts";
import { type Content, forEach, readContent } from "./files.ts";
import { MANIFEST, type Manifest } from "./manifest.ts";
import { isWithin } from "./paths.ts";

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
    const path = join(folder, file.path);
    await refuseDetour(path, folder);
    requireSame(file, await readContent(path), folder);
  });
}

/** A folder in a backup that is a link could lead to any file of who restores it. */
async function refuseDetour(path: string, folder: string): Promise<void> {
  if (!existsSync(dirname(path)) || (await isWithin(dirname(path), folder))) return;
  throw new BackupError(`${dirname(path)} leads out of the backup: use another.`);
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
