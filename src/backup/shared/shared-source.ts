import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { readSchemaState } from "../../db/postgres-migrations.ts";
import type { RecordedCheckpoint } from "../../memories/log/recorded.ts";
import { isNotFound, ObjectStoreError } from "../../objects/object-store-error.ts";
import type { Objects } from "../../objects/objects.ts";
import { BackupError, explained } from "../backup-error.ts";
import { openScratch } from "../copy-state.ts";
import { forEach } from "../files.ts";
import type { BackupSource } from "../source.ts";
import type { SharedPlace } from "./connect.ts";
import { copySharedDatabase, isNewestShared } from "./copy-database.ts";

/** Bases that are fetched at the same time: an answer of an object store takes its time. */
const AT_ONCE = 8;

/**
 * What several replicas share, whether they run or not: PostgreSQL decides, and the files of bases are in
 * an object store.
 * @param place is closed with the source
 * @param dataDir has room for some bases
 */
export async function openSharedSource(
  { postgres, objects }: SharedPlace,
  dataDir: string,
): Promise<BackupSource> {
  const scratch = await openScratch(dataDir);
  return {
    name: "the database",
    schema: async () => (await readSchemaState(postgres))?.number ?? 0,
    copyDatabase: (path) => copySharedDatabase(postgres, path),
    isNewest: (checkpoint) => isNewestShared(postgres, checkpoint),
    atOnce: AT_ONCE,
    async withBase(checkpoint, use) {
      const memories = join(scratch.folder, "memories");
      try {
        await fetchBase(objects, checkpoint, memories);
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

/** What is not there any more is left out. */
async function fetchBase(
  objects: Objects,
  { base, files }: RecordedCheckpoint,
  memories: string,
): Promise<void> {
  await forEach(files, async (file) => {
    const path = join(memories, `${base}.lance`, file);
    await explained(path, "written", async () => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await told(() => objects.fetch(`${base}/${file}`, path)).catch((error) => {
        if (!isNotFound(error)) throw error;
      });
    });
  });
}

/** @throws BackupError for what an object store reports, but for an object that is not there */
export async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof ObjectStoreError) || isNotFound(cause)) throw cause;
    throw new BackupError(`The object store does not do it (${cause.message}).`, { cause });
  }
}
