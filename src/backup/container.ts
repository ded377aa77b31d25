import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { FileDigest } from "../system/file-digest.ts";
import { replaceFile, syncFolder } from "../system/files.ts";
import type { Cipher } from "./age.ts";
import { BackupError, explainFailure } from "./backup-error.ts";
import { copyFile, copyThrough } from "./files.ts";
import { MANIFEST_FILE, type Manifest } from "./manifest.ts";

/** File name extension of encrypted files. */
export const SEALED_EXTENSION = ".age";
/** File with the key of an encrypted backup. */
export const KEY_FILE = `key${SEALED_EXTENSION}`;
/** File with the checksums of all other files of an encrypted backup, for sha256sum. It is written last. */
export const SUMS_FILE = "SHA256SUMS";

/** A file as a manifest lists it. */
type Listed = Pick<Manifest["files"][number], "path" | "bytes">;

/**
 * Stores the files of a backup, unencrypted or encrypted. `path` and `FileDigest` are always those of the
 * original data.
 */
export interface Container {
  locate(path: string): string;
  /** Copies a file into the backup. Returns null when the file does not exist. */
  add(from: string, path: string): Promise<FileDigest | null>;
  remove(path: string): Promise<void>;
  /** Reads a file of the backup, up to its listed size. Returns null when it does not exist. */
  read(file: Listed): Promise<FileDigest | null>;
  /** Copies a file out of the backup, up to its listed size. Returns null when it does not exist. */
  extract(file: Listed, to: string): Promise<FileDigest | null>;
  /** Writes the manifest, which completes the backup. */
  complete(manifest: string): Promise<void>;
}

/** A backup with unencrypted files. */
export function createPlainContainer(folder: string): Container {
  const locate = (path: string) => join(folder, path);
  return {
    locate,
    add: (from, path) => copyFile(from, locate(path)),
    remove: (path) => rm(locate(path), { force: true }),
    read: ({ path, bytes }) => copyFile(locate(path), null, bytes),
    extract: ({ path, bytes }, to) => copyFile(locate(path), to, bytes),
    complete: (manifest) => writeAtomically(folder, MANIFEST_FILE, manifest),
  };
}

/**
 * A backup whose files are each encrypted with the key of the backup.
 * @param wrapped the encrypted key; needed only to create a backup
 */
export function createSealedContainer(
  folder: string,
  { encrypt, decrypt }: Cipher,
  wrapped: Uint8Array = new Uint8Array(),
): Container {
  /** The last encryption. They run one by one: concurrent ones would slow down a server. */
  let turn: Promise<unknown> = Promise.resolve();
  const sums = new Map<string, string>();
  const locate = (path: string) => join(folder, path + SEALED_EXTENSION);
  const readSealed = ({ path, bytes }: Listed, to: string | null) =>
    explainSealed(locate(path), async () => {
      const copied = await copyThrough(locate(path), to, decrypt, bytes);
      return copied?.written ?? null;
    });
  return {
    locate,
    async add(from, path) {
      const copying = turn.then(() => copyThrough(from, locate(path), encrypt));
      turn = copying.catch(() => {});
      const copied = await copying;
      if (!copied) return null;
      sums.set(path + SEALED_EXTENSION, copied.written.sha256);
      return copied.read;
    },
    async remove(path) {
      sums.delete(path + SEALED_EXTENSION);
      await rm(locate(path), { force: true });
    },
    read: (file) => readSealed(file, null),
    extract: (file, to) => readSealed(file, to),
    async complete(manifest) {
      const sealed = new Blob([manifest]).stream();
      const content = new Uint8Array(await new Response(await encrypt(sealed)).arrayBuffer());
      for (const [name, bytes] of [
        [KEY_FILE, wrapped],
        [MANIFEST_FILE + SEALED_EXTENSION, content],
      ] as const) {
        await writeAtomically(folder, name, bytes);
        sums.set(name, new Bun.CryptoHasher("sha256").update(bytes).digest("hex"));
      }
      const lines = [...sums].sort().map(([name, sum]) => `${sum}  ${name}\n`);
      await writeAtomically(folder, SUMS_FILE, lines.join(""));
    },
  };
}

/** Decrypts the file at `path`. @throws BackupError when that fails */
export async function explainSealed<T>(path: string, decrypt: () => Promise<T>): Promise<T> {
  try {
    return await decrypt();
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    const problem = "is damaged or belongs to another backup";
    throw new BackupError(`${path} ${problem}: use another.`, { cause });
  }
}

/** Writes a file atomically and durably. */
async function writeAtomically(folder: string, name: string, content: string | Uint8Array) {
  const path = join(folder, name);
  await explainFailure(path, "written", async () => {
    await replaceFile(path, content, { isDurable: true });
    await syncFolder(folder);
  });
}
