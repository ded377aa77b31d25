import { join } from "node:path";
import { baseFolder } from "../memories/log/names.ts";
import type { RecordedCheckpoint } from "../memories/log/recorded.ts";
import type { Container } from "./container.ts";
import { type Content, forEach } from "./files.ts";
import type { BackupSource } from "./source.ts";

/**
 * Copies the files that checkpoints list, but for those in `copied`: LanceDB never changes one.
 *
 * A listed file may be gone. When the checkpoint is still the newest of its table, an earlier version
 * of this program has removed the file, and it was not needed. Otherwise the whole base may be gone,
 * and the copy of the database that the checkpoint came from is out of date.
 * @param copied by path; what is copied is added, what no checkpoint lists any more is removed
 * @param check reads a table where it comes from, and throws when that is damaged; null to copy only
 * @returns whether all that the checkpoints need is copied; if not, go on with newer ones
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

  /** @returns whether all of it is copied, and can be read */
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
      // Files of this round that go missing later are in the copy already.
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

/** What an earlier round copied and a newer checkpoint doesn't list may be forgotten by now. */
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
