import { join } from "node:path";
import { baseFolder } from "../memories/log/names.ts";
import type { RecordedCheckpoint } from "../memories/log/recorded.ts";
import type { Container } from "./container.ts";
import { type Content, forEach } from "./files.ts";
import type { BackupSource } from "./source.ts";

/**
 * Copies the files that checkpoints list, except those in `copied`: LanceDB never changes a file.
 *
 * A listed file may be missing. If the checkpoint is still the newest of its table, an earlier version of
 * this program removed the file because it was not needed. Otherwise the whole base may be gone, and the copy
 * of the database with this checkpoint is out of date.
 * @param copied the copied files by path. New ones are added, unlisted ones are removed.
 * @param check reads the original table and throws when it is damaged; null to only copy
 * @returns whether everything that the checkpoints need is copied. If not, continue with newer ones.
 */
export async function copyTables({
  source,
  container,
  checkpoints,
  copied,
  check,
  signal,
  onFile,
}: {
  source: BackupSource;
  container: Container;
  checkpoints: readonly RecordedCheckpoint[];
  copied: Map<string, Content>;
  check: ((checkpoint: RecordedCheckpoint, memories: string) => Promise<void>) | null;
  signal: AbortSignal | undefined;
  onFile: (count: number, total: number) => void;
}): Promise<boolean> {
  const listed = new Set(checkpoints.flatMap(pathsOf));
  await removeUnlisted(container, listed, copied);
  let count = 0;
  let isComplete = true;
  await forEach(
    checkpoints,
    async (checkpoint) => {
      if (!(await copyBase(checkpoint)) && !(await source.isNewest(checkpoint))) isComplete = false;
    },
    source.atOnce,
  );
  return isComplete;

  /** @returns whether the whole base is copied and readable */
  async function copyBase(checkpoint: RecordedCheckpoint): Promise<boolean> {
    const missing = checkpoint.files.filter((file) => !copied.has(pathOf(checkpoint, file)));
    const known = checkpoint.files.length - missing.length;
    for (let each = 0; each < known; each++) onFile(++count, listed.size);
    if (missing.length === 0) return true;
    let isWhole = true;
    await source.withBase(checkpoint, async (memories) => {
      await forEach(missing, async (file) => {
        signal?.throwIfAborted();
        onFile(++count, listed.size);
        const path = pathOf(checkpoint, file);
        const from = join(memories, `${checkpoint.base}.lance`, file);
        const content = await container.add(from, path);
        if (content) copied.set(path, content);
        else isWhole = false;
      });
      // A file that disappears meanwhile fails the check too. Then a newer checkpoint exists.
      await check?.(checkpoint, memories).catch(async (error) => {
        if (await source.isNewest(checkpoint)) throw error;
        isWhole = false;
      });
    });
    return isWhole;
  }
}

function pathsOf(checkpoint: RecordedCheckpoint): string[] {
  return checkpoint.files.map((file) => pathOf(checkpoint, file));
}

function pathOf({ base }: RecordedCheckpoint, file: string): string {
  return `${baseFolder(base)}/${file}`;
}

/** Removes copied files that newer checkpoints do not list: they may contain deleted memories. */
async function removeUnlisted(
  container: Container,
  listed: ReadonlySet<string>,
  copied: Map<string, Content>,
): Promise<void> {
  for (const path of copied.keys()) {
    if (listed.has(path) || !path.startsWith("memories/")) continue;
    await container.remove(path);
    copied.delete(path);
  }
}
