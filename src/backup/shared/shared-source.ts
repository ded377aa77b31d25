import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Postgres } from "../../db/postgres.ts";
import { readSchemaState } from "../../db/postgres-migrations.ts";
import type { RecordedCheckpoint } from "../../memories/log/recorded.ts";
import { isNotFound, ObjectStoreError } from "../../objects/object-store-error.ts";
import type { Objects } from "../../objects/objects.ts";
import { BackupError, explained } from "../backup-error.ts";
import { withScratch } from "../copy-state.ts";
import { forEach } from "../files.ts";
import type { BackupSource } from "../source.ts";
import { copySharedDatabase, isNewestShared } from "./copy-database.ts";

/**
 * What several replicas share, whether they run or not: PostgreSQL decides, and the files of bases are in
 * an object store.
 * @param dataDir has room for one base at a time
 */
export function createSharedSource({
  postgres,
  objects,
  dataDir,
}: {
  postgres: Postgres;
  objects: Objects;
  dataDir: string;
}): BackupSource {
  return {
    name: "the database",
    schema: async () => (await readSchemaState(postgres))?.number ?? 0,
    copyDatabase: (path) => copySharedDatabase(postgres, path),
    isNewest: (checkpoint) => isNewestShared(postgres, checkpoint),
    withBase: (checkpoint, use) =>
      withScratch(dataDir, async (memories) => {
        await fetchBase(objects, checkpoint, memories);
        await use(memories);
      }),
    close: postgres.close,
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
