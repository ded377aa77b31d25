import { open, rm } from "node:fs/promises";
import { join } from "node:path";
import { syncFolder } from "../system/durability.ts";
import { moveFile } from "../system/files.ts";
import type { Cipher } from "./age.ts";
import { BackupError, explained } from "./backup-error.ts";
import { type Content, copyFile, copyThrough, readContent } from "./files.ts";
import { MANIFEST } from "./manifest.ts";

/** The end of the name of each encrypted file. */
export const SEALED = ".age";
/** The key of an encrypted backup, for its recipients. */
export const KEY = `key${SEALED}`;
/** Checksums of all other files of an encrypted backup, in the format of sha256sum; written last. */
export const SUMS = "SHA256SUMS";

/**
 * How the files of a backup are kept: as they are, or encrypted. Paths and contents are those of the
 * data that the backup is of.
 */
export interface Container {
  /** Where a file of the backup is. */
  locate(path: string): string;
  /** Copies a file into the backup; null when it isn't there. */
  add(from: string, path: string): Promise<Content | null>;
  remove(path: string): Promise<void>;
  /** What a file of the backup holds; null when it isn't there. */
  read(path: string): Promise<Content | null>;
  /** Copies a file out of the backup; null when it isn't there. */
  extract(path: string, to: string): Promise<Content | null>;
  /** Writes the manifest, with which the backup is complete. */
  complete(manifest: string): Promise<void>;
}

/** A backup whose files are kept as they are. */
export function createPlainContainer(folder: string): Container {
  const locate = (path: string) => join(folder, path);
  return {
    locate,
    add: (from, path) => copyFile(from, locate(path)),
    remove: (path) => rm(locate(path), { force: true }),
    read: (path) => readContent(locate(path)),
    extract: (path, to) => copyFile(locate(path), to),
    complete: (manifest) => writeLast(folder, MANIFEST, manifest),
  };
}

/**
 * A backup whose files are encrypted one by one with the key of the backup.
 * @param wrapped the key as it is kept; only to make a backup
 */
export function createSealedContainer(
  folder: string,
  { encrypt, decrypt }: Cipher,
  wrapped: Uint8Array = new Uint8Array(),
): Container {
  /** Encryption is work for one processor: several files at once would only hold up a server. */
  let turn: Promise<unknown> = Promise.resolve();
  /** Checksums of what was written. */
  const sums = new Map<string, string>();
  const locate = (path: string) => join(folder, path + SEALED);
  const opened = async (path: string, to: string | null) => {
    try {
      return (await copyThrough(locate(path), to, decrypt))?.written ?? null;
    } catch (cause) {
      if (cause instanceof BackupError) throw cause;
      const problem = "is damaged, or a part of another backup";
      throw new BackupError(`${locate(path)} ${problem}: use another.`, { cause });
    }
  };
  return {
    locate,
    async add(from, path) {
      const copying = turn.then(() => copyThrough(from, locate(path), encrypt));
      turn = copying.catch(() => {});
      const copied = await copying;
      if (!copied) return null;
      sums.set(path + SEALED, copied.written.sha256);
      return copied.read;
    },
    async remove(path) {
      sums.delete(path + SEALED);
      await rm(locate(path), { force: true });
    },
    read: (path) => opened(path, null),
    extract: (path, to) => opened(path, to),
    async complete(manifest) {
      const sealed = new Blob([manifest]).stream();
      const content = new Uint8Array(await new Response(await encrypt(sealed)).arrayBuffer());
      for (const [name, bytes] of [
        [KEY, wrapped],
        [MANIFEST + SEALED, content],
      ] as const) {
        await writeLast(folder, name, bytes);
        sums.set(name, new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
      }
      const lines = [...sums].sort().map(([name, sum]) => `${sum}  ${name}\n`);
      await writeLast(folder, SUMS, lines.join(""));
    },
  };
}

/** Writes a file that is there as a whole or not at all. */
async function writeLast(folder: string, name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  await explained(path, "written", async () => {
    const part = `${path}.part`;
    await using file = await open(part, "wx", 0o600);
    await file.writeFile(content);
    await file.sync();
    // Windows moves no file that is open.
    await file.close();
    await moveFile(part, path);
    await syncFolder(folder);
  });
}
