import type { Database as Sqlite } from "bun:sqlite";
import { join } from "node:path";
import { baseFolder } from "../memories/log/names.ts";
import { isNewestCheckpoint, type RecordedCheckpoint } from "../memories/log/recorded.ts";
import type { Container } from "./container.ts";
import { type Content, forEach } from "./files.ts";

/**
 * Copies the files that checkpoints list, but for those in `copied`: LanceDB never changes one.
 *
 * A listed file may be gone. When the checkpoint is still the newest of its table, an earlier version
 * of this program has removed the file, and it was not needed. Otherwise the whole base may be gone,
 * and the copy of the database that the checkpoint came from is out of date.
 * @param live the database that the server writes to
 * @param copied by path; what is copied is added, what no checkpoint lists any more is removed
 * @returns whether all that the checkpoints need is copied; if not, go on with newer ones
 */
export async function copyTables({
  live,
  dataDir,
  container,
  checkpoints,
  copied,
  signal,
  onFile,
}: {
  live: Sqlite;
  dataDir: string;
  container: Container;
  checkpoints: readonly RecordedCheckpoint[];
  copied: Map<string, Content>;
  signal: AbortSignal | undefined;
  onFile: (count: number, total: number) => void;
}): Promise<boolean> {
  const listed = new Set(checkpoints.flatMap(pathsOf));
  await removeUnlisted(container, listed, copied);
  let count = 0;
  let isComplete = true;
  for (const checkpoint of checkpoints) {
    let hasMissing = false;
    await forEach(pathsOf(checkpoint), async (path) => {
      signal?.throwIfAborted();
      onFile(++count, listed.size);
      if (copied.has(path)) return;
      const content = await container.add(join(dataDir, path), path);
      if (content) copied.set(path, content);
      else hasMissing = true;
    });
    // Files of this round that go missing later are in the copy already.
    if (hasMissing && !isNewestCheckpoint(live, checkpoint)) isComplete = false;
  }
  return isComplete;
}

function pathsOf({ base, files }: RecordedCheckpoint): string[] {
  return files.map((file) => `${baseFolder(base)}/${file}`);
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
