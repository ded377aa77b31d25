import { randomBytes } from "node:crypto";
import { mkdir, readdir, rm, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { moveFile } from "../../system/files.ts";
import { absent, createBaseFolder, isAbsent } from "./base-folder.ts";

/** Milliseconds that files stay at the least after they came, until the base is opened. */
const GRACE = 5_000;
/** Bytes of the disk that others find free, if the cache has so many to give. */
const LEFT_FREE = 256 << 20;
/** Milliseconds that it takes to write a base at the most, and then some. */
const OLD = 600_000;
/** What folders begin with that come or go; they are nobody's after a start. */
const PASSING = ".passing-";

interface Entry {
  bytes: number;
  /** By how many a base is held. */
  holds: number;
  /** When its files last came, by `performance.now()`. */
  came: number;
  /** Files that are in the object store. LanceDB never changes one. */
  stored: Set<string>;
}

const newEntry = (): Entry => ({
  bytes: 0,
  holds: 0,
  came: Number.NEGATIVE_INFINITY,
  stored: new Set(),
});

export type BaseCache = ReturnType<typeof createBaseCache>;

/**
 * The local copies of bases, within bounds: those that were used least recently go first, and none
 * that is held.
 * @param limit bytes that they may take; more where that much is in use
 * @param free bytes that the disk has left
 */
export function createBaseCache({
  folder,
  limit,
  grace = GRACE,
  free = freeBytes,
}: {
  folder: string;
  limit: number;
  grace?: number;
  free?: (folder: string) => Promise<number>;
}) {
  const local = createBaseFolder(folder);
  /** The least recently used first. */
  const entries = new Map<string, Entry>();
  /** Bases whose files are being removed. */
  const leaving = new Map<string, Promise<void>>();

  const use = (base: string): Entry => {
    const entry = entries.get(base) ?? newEntry();
    entries.delete(base);
    entries.set(base, entry);
    return entry;
  };

  const passing = async () => {
    const path = join(folder, `${PASSING}${randomBytes(6).toString("hex")}`);
    await mkdir(path, { recursive: true });
    return path;
  };

  /** At once, so that nobody finds a part of it. */
  const removeFolder = async (base: string) => {
    await load();
    const path = await passing();
    await moveFile(local.pathOf(base), join(path, base)).catch(absent);
    await rm(path, { recursive: true, force: true });
  };

  const remove = (base: string): Promise<void> => {
    entries.delete(base);
    const removing = (leaving.get(base) ?? Promise.resolve()).then(() => removeFolder(base));
    const done = removing.finally(() => {
      if (leaving.get(base) === done) leaving.delete(base);
    });
    leaving.set(base, done);
    return done;
  };

  const isUnused = ({ holds, came }: Entry) => holds === 0 && performance.now() - came > grace;
  const size = () => entries.values().reduce((sum, entry) => sum + entry.bytes, 0);

  const adopt = async (base: string) => {
    if (entries.has(base) || leaving.has(base)) return;
    use(base).bytes = await local.bytes(base);
  };

  const look = async () => {
    const names = await readdir(folder).catch(absent);
    const left = names.filter((name) => name.startsWith(PASSING));
    for (const name of left) await rm(join(folder, name), { recursive: true, force: true });
    for (const base of await local.bases()) await adopt(base);
  };
  let looked: Promise<void> | null = null;
  /** Reads what an earlier process left; once. */
  const load = (): Promise<void> => {
    looked ??= look().catch((error) => {
      looked = null;
      throw error;
    });
    return looked;
  };

  return {
    ...local,
    load,
    /** Notes bases that this process began long ago and never kept: they were not written to their end. */
    async adoptOld(): Promise<void> {
      for (const base of await local.bases()) {
        const { mtimeMs } = await stat(local.pathOf(base)).catch(() => ({ mtimeMs: Date.now() }));
        if (Date.now() - mtimeMs > OLD) await adopt(base);
      }
    },
    /** A new folder beside those of bases. */
    passing,
    remove,

    /** Keeps a base's files here until the returned function is called. */
    hold(base: string): () => void {
      const entry = use(base);
      entry.holds++;
      let isHeld = true;
      return () => {
        if (isHeld) entry.holds--;
        isHeld = false;
      };
    },

    /** Files of a base that are known to be in the object store, to be added to. */
    stored: (base: string) => use(base).stored,

    /** By how many a base is held. */
    holds: (base: string) => entries.get(base)?.holds ?? 0,

    /** Resolves when a base whose files were being removed has none. */
    async left(base: string): Promise<void> {
      await leaving.get(base);
    },

    /** Notes that all files of a base are here. */
    async came(base: string): Promise<void> {
      Object.assign(use(base), { bytes: await local.bytes(base), came: performance.now() });
    },

    /** Bases that nobody uses now. */
    unused: (): string[] => [...entries].filter(([, each]) => isUnused(each)).map(([base]) => base),

    /** Removes a base's files if nobody uses it. */
    async removeUnused(base: string): Promise<void> {
      const entry = entries.get(base);
      if (entry && isUnused(entry)) await remove(base);
    },

    /** Removes what is too much, or so many bytes. */
    async makeRoom(wanted = 0): Promise<void> {
      const short = LEFT_FREE - (await free(folder));
      let excess = Math.max(size() - limit, short, wanted);
      for (const [base, entry] of [...entries]) {
        if (excess <= 0) return;
        if (!isUnused(entry)) continue;
        excess -= entry.bytes;
        await remove(base);
      }
    },

    /** Bytes that all of it takes. */
    size,
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
