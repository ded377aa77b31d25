import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readSchemaState } from "../../db/postgres-migrations.ts";
import type { Contents } from "../../memories/log/base-records.ts";
import { createBaseRecords } from "../../memories/log/postgres-bases.ts";
import type { RecordedCheckpoint } from "../../memories/log/recorded.ts";
import { isNotFound, ObjectStoreError } from "../../objects/object-store-error.ts";
import type { Objects } from "../../objects/objects.ts";
import { BackupError, explained } from "../backup-error.ts";
import { openScratch } from "../copy-state.ts";
import { forEach } from "../files.ts";
import type { BackupSource } from "../source.ts";
import type { SharedPlace } from "./connect.ts";
import { copySharedDatabase, isNewestShared } from "./copy-database.ts";

/** Concurrent downloads of bases: object stores answer slowly. */
const CONCURRENCY = 8;

/**
 * Opens the shared data of replicas as a source, even while replicas run. PostgreSQL has the checkpoints, the
 * object store has the files of the bases.
 * @param place is closed with the source
 * @param dataDir has space for some bases
 */
export async function openSharedSource(
  { postgres, objects }: SharedPlace,
  dataDir: string,
): Promise<BackupSource> {
  const scratch = await openScratch(dataDir);
  const records = createBaseRecords(postgres, () => null);
  return {
    name: "the database",
    schema: async () => (await readSchemaState(postgres))?.number ?? 0,
    copyDatabase: (path) => copySharedDatabase(postgres, path),
    isNewest: (checkpoint) => isNewestShared(postgres, checkpoint),
    atOnce: CONCURRENCY,
    async withBase(checkpoint, use) {
      const memories = join(scratch.folder, "memories");
      try {
        const contents = await records.contents(checkpoint.base);
        await fetchBase(objects, { ...checkpoint, contents }, memories);
        await use(memories);
      } finally {
        await rm(join(memories, `${checkpoint.base}.lance`), { recursive: true, force: true });
      }
    },
    async close() {
      await scratch.remove();
      await postgres.close();
    },
  };
}

/** Downloads the files of a base that still exist. */
async function fetchBase(
  objects: Objects,
  { base, files, contents }: RecordedCheckpoint & { contents: Contents },
  memories: string,
): Promise<void> {
  await forEach(files, async (file) => {
    const path = join(memories, `${base}.lance`, file);
    await explained(path, "written", async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const expected = contents[file] ?? null;
      await explainStoreErrors(() => objects.fetch(`${base}/${file}`, path, expected)).catch(
        (error) => {
          if (!isNotFound(error)) throw error;
        },
      );
    });
  });
}

/** Translates errors of the object store to a BackupError, except that of a missing object. */
export async function explainStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ObjectStoreError) || isNotFound(cause)) throw cause;
    throw new BackupError(`A call to the object store failed (${cause.message}).`, { cause });
  }
}
