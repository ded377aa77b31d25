import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { FileDigest } from "../system/file-digest.ts";
import { forEachAtOnce } from "../timing/at-once.ts";
import { type Cipher, lockOf, openKey, type Unlock } from "./age.ts";
import { BackupError } from "./backup-error.ts";
import {
  type Container,
  createPlainContainer,
  createSealedContainer,
  explainSealed,
  KEY_FILE,
  SEALED_EXTENSION,
  SUMS_FILE,
} from "./container.ts";
import type { Progress } from "./create-backup.ts";
import type { EndedAccess } from "./end-access.ts";
import { copyFile, readPieces, readSmall } from "./files.ts";
import { isPlainPath } from "./foreign-database.ts";
import { isWithin, MANIFEST_FILE, MAX_MANIFEST, type Manifest, readManifest } from "./manifest.ts";

/** Maximum bytes of a backup's key: enough for a hundred recipients. */
const MAX_KEY = 256 << 10;

/** Asks for the passphrase or identity of an encrypted backup. */
export type AskToUnlock = (kind: "passphrase" | "identity") => Promise<Unlock>;

/**
 * Opens a backup and reads its manifest. The files are not checked yet.
 * @param ask asks for the key of an encrypted backup; null when only unencrypted ones are expected
 * @param isExpectedSealed whether to refuse an unencrypted backup
 * @throws BackupError when the backup can't be opened, is incomplete or of a newer program
 */
async function openBackup(
  folder: string,
  ask: AskToUnlock | null,
  isExpectedSealed: boolean,
): Promise<{ manifest: Manifest; container: Container }> {
  const isSealed = existsSync(join(folder, KEY_FILE));
  const isPlain = existsSync(join(folder, MANIFEST_FILE));
  if (isSealed && isPlain) {
    // Otherwise an attacker with write access could replace the encrypted contents by an unencrypted list.
    throw new BackupError(
      `${folder} is an encrypted backup with a ${MANIFEST_FILE} that does not belong there: use another backup.`,
    );
  }
  if (isPlain && isExpectedSealed) {
    throw new BackupError(
      `${folder} is not encrypted, so anybody with write access may have created it. To restore it anyway, omit --identity.`,
    );
  }
  const cipher = isSealed ? await openCipher(folder, ask) : null;
  const name = MANIFEST_FILE + (cipher ? SEALED_EXTENSION : "");
  const path = join(folder, name);
  const manifest = await readPieces(path, MAX_MANIFEST, (bytes) =>
    cipher
      ? explainSealed(path, async () => readManifest(await cipher.decrypt(bytes), path))
      : readManifest(bytes, path),
  );
  if (manifest === null) {
    throw new BackupError(`${folder} is not a complete backup: it has no ${name}.`);
  }
  const container = cipher ? createSealedContainer(folder, cipher) : createPlainContainer(folder);
  return { manifest, container };
}

async function openCipher(folder: string, ask: AskToUnlock | null): Promise<Cipher> {
  const path = join(folder, KEY_FILE);
  const wrapped = await readSmall(path, MAX_KEY);
  if (!wrapped || !ask) throw new BackupError(`${folder} is an encrypted backup.`);
  return await openKey(wrapped, await ask(lockOf(wrapped)), path);
}

type Options = Pick<RestoreOptions, "signal" | "onProgress">;

/**
 * Reads every file of a backup and compares its checksum.
 * @throws BackupError that names the first file that differs from the manifest
 */
async function verifyFiles(
  folder: string,
  { manifest, container }: { manifest: Manifest; container: Container },
  { signal, onProgress }: Options = {},
): Promise<void> {
  let count = 0;
  await forEachAtOnce(manifest.files, async (file) => {
    signal?.throwIfAborted();
    onProgress?.({ step: "checking files", count: ++count, total: manifest.files.length });
    await refuseOutside(container.locate(file.path), folder);
    requireSame(file, await container.read(file), container);
  });
}

/**
 * Checks that a backup is on the disk as it was written. For an encrypted backup this compares the checksums
 * of the encrypted files, which needs no key.
 * @throws BackupError that names the first damaged file
 */
export async function verifyWritten(folder: string, options: Options = {}): Promise<void> {
  if (!existsSync(join(folder, KEY_FILE))) {
    return await verifyFiles(folder, await openBackup(folder, null, false), options);
  }
  const sums = await readSums(folder);
  await forEachAtOnce([...sums], async ([name, sum]) => {
    options.signal?.throwIfAborted();
    const path = join(folder, name);
    await refuseOutside(path, folder);
    const found = await copyFile(path, null);
    if (found?.sha256 !== sum) throw damaged(path, SUMS_FILE);
  });
}

async function readSums(folder: string): Promise<Map<string, string>> {
  const path = join(folder, SUMS_FILE);
  const text = (await readSmall(path, MAX_MANIFEST))?.toString() ?? "";
  const lines = text.split("\n").slice(0, -1);
  const sums = new Map(
    lines.map((line) => {
      const [, sum = "", name = ""] = /^([0-9a-f]{64}) {2}(.+)$/.exec(line) ?? [];
      return [name, sum] as const;
    }),
  );
  const isWhole = [KEY_FILE, MANIFEST_FILE + SEALED_EXTENSION].every((name) => sums.has(name));
  if (isWhole && [...sums.keys()].every(isPlainPath)) return sums;
  throw new BackupError(`${path} is damaged: use another backup.`);
}

/** Refuses a folder that is a symbolic link: it could lead to any file of the person who restores. */
async function refuseOutside(path: string, folder: string): Promise<void> {
  if (!existsSync(dirname(path)) || (await isWithin(dirname(path), folder))) return;
  throw new BackupError(`${dirname(path)} leads out of the backup: use another backup.`);
}

/** @throws BackupError when a content differs from the manifest's file */
export function requireSame(
  file: Manifest["files"][number],
  found: FileDigest | null,
  { locate }: Pick<Container, "locate">,
): void {
  const path = locate(file.path);
  if (found === null) {
    throw new BackupError(`${path} is missing: this backup is incomplete, use another.`);
  }
  if (found.bytes !== file.bytes || found.sha256 !== file.sha256)
    throw damaged(path, MANIFEST_FILE);
}

function damaged(path: string, list: string): BackupError {
  return new BackupError(`${path} differs from ${list}: this backup is damaged, use another.`);
}

/** Options of a restore, to a data folder or to a shared database. */
export interface RestoreOptions {
  folder: string;
  dataDir: string;
  /** Asks for the key of an encrypted backup; null when only unencrypted ones are expected. */
  unlock?: AskToUnlock | null;
  /** Whether to refuse an unencrypted backup. */
  isExpectedSealed?: boolean;
  /** Whether to revoke API keys and the grants of apps. */
  revokeKeys?: boolean;
  /** Milliseconds since 1970. */
  clock?: () => number;
  signal?: AbortSignal | undefined;
  onProgress?: Progress;
}

/** What a restore has put back, and the access that it has ended. */
export interface Restored {
  readonly manifest: Manifest;
  readonly ended: EndedAccess;
}

/**
 * Opens a backup and checks all its files against the manifest.
 * @throws BackupError with one sentence for the user
 */
export async function openVerified(options: RestoreOptions) {
  const { folder, unlock = null, isExpectedSealed = false } = options;
  const backup = await openBackup(folder, unlock, isExpectedSealed);
  await verifyFiles(folder, backup, options);
  return backup;
}
