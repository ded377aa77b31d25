import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { moveFile } from "../../system/files.ts";
import { absent, createBaseFolder, isAbsent } from "./base-folder.ts";

/** Milliseconds for which files that have just arrived are kept, so that the base can be opened. */
const GRACE_MS = 5_000;
/** Bytes of the disk that the cache leaves free, as far as it has bases to remove. */
const MIN_FREE_BYTES = 256 << 20;
/** Milliseconds that are more than enough to write a base. */
const OLD_MS = 600_000;
/** Prefix of temporary folders: of bases that are fetched or removed. A start removes them. */
const TEMPORARY = ".passing-";

interface Entry {
  bytes: number;
  /** How many holders keep the base. */
  holds: number;
  /** When its files last arrived, by `performance.now()`. */
  arrived: number;
  /** Files that are in the object store. LanceDB never changes a file. */
  stored: Set<string>;
}

const newEntry = (): Entry => ({
  bytes: 0,
  holds: 0,
  arrived: Number.NEGATIVE_INFINITY,
  stored: new Set(),
});

export type BaseCache = ReturnType<typeof createBaseCache>;

/**
 * The local copies of bases. The cache removes those that were used least recently, and none that is held.
 * @param limit largest size in bytes; the cache exceeds it while held bases take more
 * @param free reads the free bytes of a folder's disk
 */
export function createBaseCache({
  folder,
  limit,
  grace = GRACE_MS,
  free = freeBytes,
}: {
  folder: string;
  limit: number;
  grace?: number;
  free?: (folder: string) => Promise<number>;
}) {
  const local = createBaseFolder(folder);
  /** The least recently used base first. */
  const entries = new Map<string, Entry>();

  const use = (base: string): Entry => {
    const entry = entries.get(base) ?? newEntry();
    entries.delete(base);
    entries.set(base, entry);
    return entry;
  };

  const removals = createRemovals(folder, local.pathOf, () => load());
  const remove = (base: string): Promise<void> => {
    entries.delete(base);
    return removals.remove(base);
  };

  const isUnused = ({ holds, arrived }: Entry) =>
    holds === 0 && performance.now() - arrived > grace;
  const size = () => entries.values().reduce((sum, entry) => sum + entry.bytes, 0);

  const adopt = async (base: string) => {
    if (entries.has(base) || removals.of(base)) return;
    use(base).bytes = await local.bytes(base);
  };

  const readFolder = async () => {
    const names = await readdir(folder).catch(absent);
    const temporary = names.filter((name) => name.startsWith(TEMPORARY));
    for (const name of temporary) await rm(join(folder, name), { recursive: true, force: true });
    for (const base of await local.bases()) await adopt(base);
  };
  let loaded: Promise<void> | null = null;
  /** Adds the bases of an earlier process to the cache. Only the first call does so. */
  const load = (): Promise<void> => {
    loaded ??= readFolder().catch((error) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };

  return {
    ...local,
    load,
    /** Adds bases that this process began to write long ago and never finished. */
    async adoptOld(): Promise<void> {
      for (const base of await local.bases()) {
        const { mtimeMs } = await stat(local.pathOf(base)).catch(() => ({ mtimeMs: Date.now() }));
        if (Date.now() - mtimeMs > OLD_MS) await adopt(base);
      }
    },
    /** Makes a new temporary folder beside those of bases. */
    temporaryFolder: removals.temporaryFolder,
    remove,

    /** Keeps the local files of a base until the returned function is called. */
    hold(base: string): () => void {
      const entry = use(base);
      entry.holds++;
      let isHeld = true;
      return () => {
        if (isHeld) entry.holds--;
        isHeld = false;
      };
    },

    /** Files of a base that are known to be in the object store. Callers add to this set. */
    stored: (base: string) => use(base).stored,

    /** How many holders keep a base. */
    holds: (base: string) => entries.get(base)?.holds ?? 0,

    /** Waits until the removal of a base's files, if there is one, has finished. */
    async removalOf(base: string): Promise<void> {
      await removals.of(base);
    },

    /** Records that all files of a base have arrived. */
    async recordArrival(base: string): Promise<void> {
      Object.assign(use(base), { bytes: await local.bytes(base), arrived: performance.now() });
    },

    /** Bases that are not in use. */
    unused: (): string[] => [...entries].filter(([, each]) => isUnused(each)).map(([base]) => base),

    /** Removes the files of a base that is not in use. */
    async removeUnused(base: string): Promise<void> {
      const entry = entries.get(base);
      if (entry && isUnused(entry)) await remove(base);
    },

    /**
     * Removes unused bases until the cache is within its limit and the disk has enough space.
     * @param wanted bytes that are removed at least
     */
    async makeRoom(wanted = 0): Promise<void> {
      const short = MIN_FREE_BYTES - (await free(folder));
      let excess = Math.max(size() - limit, short, wanted);
      for (const [base, entry] of [...entries]) {
        if (excess <= 0) return;
        if (!isUnused(entry)) continue;
        excess -= entry.bytes;
        await remove(base);
      }
    },

    /** Bytes of all local copies. */
    size,
  };
}

/**
 * Removes the local files of bases, by way of temporary folders beside them.
 * @param before called before a removal
 */
function createRemovals(
  folder: string,
  pathOf: (base: string) => string,
  before: () => Promise<void>,
) {
  const running = new Map<string, Promise<void>>();

  const temporaryFolder = async () => {
    const path = join(folder, `${TEMPORARY}${randomBytes(6).toString("hex")}`);
    await mkdir(path, { recursive: true });
    return path;
  };

  /** Moves the folder away first, so that no reader finds a part of it. */
  const removeFolder = async (base: string) => {
    await before();
    const path = await temporaryFolder();
    await moveFile(pathOf(base), join(path, base)).catch(absent);
    await rm(path, { recursive: true, force: true });
  };

  return {
    temporaryFolder,

    /** The removal of a base's files, if there is one. */
    of: (base: string) => running.get(base),

    remove(base: string): Promise<void> {
      const removing = (running.get(base) ?? Promise.resolve()).then(() => removeFolder(base));
      const done = removing.finally(() => {
        if (running.get(base) === done) running.delete(base);
      });
      running.set(base, done);
      return done;
    },
  };
}

async function freeBytes(folder: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    if (isAbsent(error)) return Number.POSITIVE_INFINITY;
    throw error;
  }
}
