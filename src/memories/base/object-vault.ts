import { mkdir, open, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { SharedSettings } from "../../config/shared-settings.ts";
import { AppError } from "../../errors.ts";
import type { Log as Logger } from "../../log.ts";
import type { Metrics } from "../../metrics.ts";
import { digestOf } from "../../objects/body.ts";
import { isNotFound, ObjectStoreError, OTHER_CONTENT } from "../../objects/object-store-error.ts";
import { createObjects, measureObjects } from "../../objects/objects.ts";
import { isDiskFull } from "../../system/disk-errors.ts";
import type { FileDigest } from "../../system/file-digest.ts";
import { moveFile } from "../../system/files.ts";
import { forEachAtOnce } from "../../timing/at-once.ts";
import type { BaseRecords } from "../log/shared-log.ts";
import { createBaseCache } from "./base-cache.ts";
import { damaged, isWhole, requireWhole } from "./base-folder.ts";
import { bytesOfObjects, removeObjects, requireStored } from "./base-objects.ts";
import { createSweep, type SharedParts, startSweep } from "./sweep.ts";
import { TornFile, type Vault } from "./vault.ts";

/** Bytes that are freed when the disk has no space for a base. */
const FREED_BYTES = 1 << 30;

/**
 * Keeps bases in an object store, with local copies to read and write. The objects count. Local files may be
 * lost at any moment, and are fetched again.
 */
export function createObjectVault(parts: SharedParts): Vault {
  const { objects, records, cache } = parts;
  const fetchWithRoom = async (base: string, files: readonly string[]) => {
    try {
      await fetchFiles(parts, base, files);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      await cache.makeRoom(FREED_BYTES);
      await fetchFiles(parts, base, files);
    }
  };

  return {
    bases: cache.bases,
    files: cache.files,
    hold: cache.hold,

    async needed(base) {
      const files = await cache.files(base);
      const stored = cache.stored(base);
      const isNeeded = neededOf(files);
      return files.filter((file) => stored.has(file) || isNeeded(file));
    },

    async bytes(base) {
      return (await cache.bytes(base)) || (await bytesOfObjects(objects, base));
    },

    async keep(base, files) {
      const release = cache.hold(base);
      try {
        const stored = cache.stored(base);
        const added = files.filter((file) => !stored.has(file));
        const path = (file: string) => join(cache.pathOf(base), file);
        const contents: Record<string, FileDigest> = {};
        for (const file of added) {
          await using handle = await open(path(file));
          await requireWhole(handle, path(file));
          contents[file] = await digestOf(handle);
        }
        if (stored.size === 0) await records.begin(base);
        await forEachAtOnce(added, (file) => objects.put(`${base}/${file}`, Bun.file(path(file))));
        if (added.length > 0) {
          await requireStored(objects, base, contents);
          await records.describe(base, contents);
        }
        for (const file of added) stored.add(file);
        await cache.recordArrival(base);
      } finally {
        release();
      }
      await cache.makeRoom();
    },

    async restore(base, files) {
      await cache.load();
      const release = cache.hold(base);
      const isAlone = cache.holds(base) === 1;
      try {
        await cache.removalOf(base);
        const path = cache.pathOf(base);
        const whole = await Promise.all(files.map((file) => isWhole(join(path, file))));
        const missing = files.filter((_, index) => !whole[index]);
        if (missing.length > 0) await fetchWithRoom(base, missing);
        const stored = cache.stored(base);
        // While the base is open here, a flush may be writing its next version.
        if (isAlone) {
          await cache.removeUnlisted(base, files);
          // A version that was never recorded may be written again with the same name.
          stored.clear();
        }
        for (const file of files) stored.add(file);
        await cache.recordArrival(base);
      } catch (error) {
        const isReplaced = isNotFound(error) && !(await records.wanted([base])).has(base);
        throw isReplaced ? replaced(error) : notRestored(error);
      } finally {
        release();
      }
      await cache.makeRoom();
    },

    async forget(bases) {
      if (bases.length === 0) return;
      const condemned = await records.condemn(bases);
      for (const base of condemned) await cache.remove(base);
      for (const base of condemned) {
        await removeObjects(objects, base);
        await records.gone([base]);
      }
    },
  };
}

/** Fetches objects into the base's folder: all of them, or none. */
async function fetchFiles(
  { objects, records, cache }: SharedParts,
  base: string,
  files: readonly string[],
): Promise<void> {
  const contents = await records.contents(base);
  const [from, to] = [await cache.temporaryFolder(), cache.pathOf(base)];
  try {
    await forEachAtOnce(files, async (file) => {
      await mkdir(dirname(join(from, file)), { recursive: true });
      await objects.fetch(`${base}/${file}`, join(from, file), contents[file] ?? null);
      await using handle = await open(join(from, file));
      await requireWhole(handle, join(from, file));
    });
    for (const file of files) {
      await mkdir(dirname(join(to, file)), { recursive: true });
      await moveFile(join(from, file), join(to, file));
    }
  } finally {
    await rm(from, { recursive: true, force: true });
  }
}

/**
 * Selects the files that LanceDB reads at a base's newest version. To write a base, LanceDB makes a version
 * for each few megabytes, with a manifest and a file in `_transactions/` each. Uploading an object costs money.
 */
function neededOf(files: readonly string[]): (file: string) => boolean {
  const isManifest = (file: string) => file.startsWith("_versions/");
  const newest = files.filter(isManifest).sort()[0];
  return (file) => (isManifest(file) ? file === newest : !file.startsWith("_transactions/"));
}

/** The base is being removed, because another one has replaced it. */
function replaced(cause: unknown): AppError {
  const message = "The account's memories are being rewritten. Try again in a moment.";
  return new AppError("unavailable", message, { cause, retryAfter: 1 });
}

/** The error of a request when a base can't be restored. */
function notRestored(error: unknown): unknown {
  if (isNotFound(error) || error instanceof TornFile) return damaged(error);
  if (!(error instanceof ObjectStoreError)) return error;
  const message =
    error.code === OTHER_CONTENT
      ? "The object store does not return this account's memories as they were stored. Try again in a moment."
      : "The object store, which has the memories, can't be reached. Try again in a moment.";
  return new AppError("unavailable", message, { cause: error, retryAfter: 5 });
}

/**
 * Opens the vault that several replicas share, and sweeps it in the background.
 * @param folder for the local copies; no other process uses it
 */
export function openSharedVault({
  settings,
  folder,
  records,
  logger,
  metrics,
}: {
  settings: Pick<SharedSettings, "objects" | "cacheBytes">;
  folder: string;
  records: BaseRecords;
  logger: Logger;
  metrics: Metrics;
}): { vault: Vault; stop(): Promise<void> } {
  const objects = measureObjects(createObjects(settings.objects), metrics);
  const cache = createBaseCache({ folder, limit: settings.cacheBytes });
  metrics.gauge("ctxd_cache_bytes", "Bytes of bases on this machine.", cache.size);
  const sweeping = startSweep(createSweep({ objects, records, cache }), { logger });
  return { vault: createObjectVault({ objects, records, cache }), stop: sweeping.stop };
}
