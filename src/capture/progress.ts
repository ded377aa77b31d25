import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { moveFile } from "../system/files.ts";

/** Milliseconds after which nobody goes on with a conversation. */
const FORGOTTEN_AFTER = 400 * 86_400_000;

const Kept = Type.Object({
  offset: Type.Integer({ minimum: 0 }),
  at: Type.Union([Type.Number(), Type.Null()]),
  session: Type.Union([Type.String(), Type.Null()]),
});
/** How far a transcript was captured. */
export type CaptureProgress = Static<typeof Kept>;

/** Remembers how far each transcript was captured. */
export interface ProgressStore {
  /** Null for a transcript that was never captured. */
  find(accountId: string, path: string): Promise<CaptureProgress | null>;
  put(accountId: string, path: string, place: CaptureProgress): Promise<void>;
}

/**
 * Remembers them in files of a folder, one for each transcript, whose names don't tell the
 * transcript's. One that is lost costs a second reading: turns have the same ids whenever they are read.
 */
export function createProgressFiles(folder: string): ProgressStore {
  const fileOf = (accountId: string, path: string) => {
    const name = new Bun.CryptoHasher("sha256").update(JSON.stringify([accountId, path]));
    return join(folder, `${name.digest("hex")}.json`);
  };
  let isSwept = false;
  /** Once for each start: what was not written for long is of conversations that have ended. */
  const sweep = async () => {
    if (isSwept) return;
    isSwept = true;
    const files = (await readdir(folder)).map((name) => join(folder, name));
    for (const file of files) {
      const { mtimeMs } = await stat(file);
      if (Date.now() - mtimeMs > FORGOTTEN_AFTER) await rm(file, { force: true });
    }
  };
  return {
    async find(accountId, path) {
      try {
        const place: unknown = JSON.parse(await readFile(fileOf(accountId, path), "utf8"));
        return Value.Check(Kept, place) ? place : null;
      } catch {
        return null;
      }
    },

    async put(accountId, path, place) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(accountId, path);
      await writeFile(`${file}.new`, JSON.stringify(place), { mode: 0o600 });
      await moveFile(`${file}.new`, file);
      // Another process may sweep too.
      await sweep().catch(() => {});
    },
  };
}

/** Remembers them as long as the process runs. */
export function createProgressMemory(): ProgressStore {
  const progress = new Map<string, CaptureProgress>();
  const keyOf = (accountId: string, path: string) => JSON.stringify([accountId, path]);
  return {
    find: async (accountId, path) => progress.get(keyOf(accountId, path)) ?? null,
    put: async (accountId, path, place) => void progress.set(keyOf(accountId, path), place),
  };
}
