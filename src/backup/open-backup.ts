import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Cipher, lockOf, openKey, type Unlock } from "./age.ts";
import { BackupError } from "./backup-error.ts";
import {
  type Container,
  createPlainContainer,
  createSealedContainer,
  KEY,
  SEALED,
} from "./container.ts";
import { readPieces, readSmall } from "./files.ts";
import { MANIFEST, MAX_MANIFEST, type Manifest, readManifest } from "./manifest.ts";

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
export async function openBackup(
  folder: string,
  ask: AskToUnlock | null,
  isExpectedSealed = false,
): Promise<{ manifest: Manifest; container: Container }> {
  const isSealed = existsSync(join(folder, KEY));
  const isPlain = existsSync(join(folder, MANIFEST));
  if (isSealed && isPlain) {
    // Otherwise an attacker with write access could replace the encrypted contents by an unencrypted list.
    throw new BackupError(
      `${folder} is an encrypted backup with a ${MANIFEST} that does not belong there: use another backup.`,
    );
  }
  if (isPlain && isExpectedSealed) {
    throw new BackupError(
      `${folder} is not encrypted, so anybody with write access may have created it. To restore it anyway, omit --identity.`,
    );
  }
  if (!isSealed) {
    const path = join(folder, MANIFEST);
    const manifest = await readPieces(path, MAX_MANIFEST, (bytes) => readManifest(bytes, path));
    if (manifest === null) throw incomplete(folder, MANIFEST);
    return { manifest, container: createPlainContainer(folder) };
  }
  const path = join(folder, KEY);
  const wrapped = await readSmall(path, MAX_KEY);
  if (!wrapped || !ask) throw new BackupError(`${folder} is an encrypted backup.`);
  const cipher = await openKey(wrapped, await ask(lockOf(wrapped)), path);
  const name = MANIFEST + SEALED;
  const manifest = await readPieces(join(folder, name), MAX_MANIFEST, (bytes) =>
    readSealedManifest(bytes, cipher, join(folder, name)),
  );
  if (manifest === null) throw incomplete(folder, name);
  return { manifest, container: createSealedContainer(folder, cipher) };
}

function incomplete(folder: string, name: string): BackupError {
  return new BackupError(`${folder} is not a complete backup: it has no ${name}.`);
}

async function readSealedManifest(
  sealed: ReadableStream<Uint8Array>,
  { decrypt }: Pick<Cipher, "decrypt">,
  path: string,
): Promise<Manifest> {
  try {
    return await readManifest(await decrypt(sealed), path);
  } catch (cause) {
    if (cause instanceof BackupError) throw cause;
    throw new BackupError(`${path} is damaged or belongs to another backup: use another.`, {
      cause,
    });
  }
}
