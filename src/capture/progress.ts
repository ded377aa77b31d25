import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { moveFile } from "../system/files.ts";

/** Milliseconds after which the progress of an unused transcript is deleted: 400 days. */
const EXPIRES_AFTER_MS = 400 * 86_400_000;

const Progress = Type.Object({
  offset: Type.Integer({ minimum: 0 }),
  at: Type.Union([Type.Number(), Type.Null()]),
  session: Type.Union([Type.String(), Type.Null()]),
});
/** How far a transcript has been captured. */
type CaptureProgress = Static<typeof Progress>;

/** Stores how far each transcript has been captured. */
export interface ProgressStore {
  /** Null for a transcript that was never captured. */
  find(accountId: string, path: string): Promise<CaptureProgress | null>;
  put(accountId: string, path: string, progress: CaptureProgress): Promise<void>;
}

/**
 * Stores progress in a folder, one file for each transcript. The file names do not reveal the paths of
 * the transcripts. A lost file is harmless: the transcript is read again, and its turns get the same
 * ids.
 */
export function createProgressFiles(folder: string): ProgressStore {
  const fileOf = (accountId: string, path: string) => {
    const name = new Bun.CryptoHasher("sha256").update(JSON.stringify([accountId, path]));
    return join(folder, `${name.digest("hex")}.json`);
  };
  let isCleaned = false;
  /** Deletes old files, once per start of the program. */
  const deleteExpired = async () => {
    if (isCleaned) return;
    isCleaned = true;
    const files = (await readdir(folder)).map((name) => join(folder, name));
    for (const file of files) {
      const { mtimeMs } = await stat(file);
      if (Date.now() - mtimeMs > EXPIRES_AFTER_MS) await rm(file, { force: true });
    }
  };
  return {
    async find(accountId, path) {
      try {
        const stored: unknown = JSON.parse(await readFile(fileOf(accountId, path), "utf8"));
        return Value.Check(Progress, stored) ? stored : null;
      } catch {
        return null;
      }
    },

    async put(accountId, path, progress) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(accountId, path);
      await writeFile(`${file}.new`, JSON.stringify(progress), { mode: 0o600 });
      await moveFile(`${file}.new`, file);
      // Another process may delete the same files.
      await deleteExpired().catch(() => {});
    },
  };
}

/** Stores progress in memory, until the process ends. */
export function createProgressMemory(): ProgressStore {
  const stored = new Map<string, CaptureProgress>();
  const keyOf = (accountId: string, path: string) => JSON.stringify([accountId, path]);
  return {
    find: async (accountId, path) => stored.get(keyOf(accountId, path)) ?? null,
    put: async (accountId, path, progress) => void stored.set(keyOf(accountId, path), progress),
  };
}
