import { existsSync } from "node:fs";
import { join } from "node:path";
import { lockOf, openKey, type Unlock } from "./age.ts";
import { BackupError } from "./backup-error.ts";
import {
  type Container,
  createPlainContainer,
  createSealedContainer,
  KEY,
  SEALED,
} from "./container.ts";
import { readSmall } from "./files.ts";
import { MANIFEST, MAX_MANIFEST, type Manifest, parseManifest } from "./manifest.ts";

/** Bytes of a backup's key: a hundred recipients have room. */
const MAX_KEY = 256 << 10;

/** Gets what opens an encrypted backup. @param kind what it was encrypted with */
export type AskToUnlock = (kind: "passphrase" | "identity") => Promise<Unlock>;

/**
 * Reads the manifest of a backup, which need not be as it says.
 * @param ask for an encrypted backup; null where only one that is not encrypted is expected
 * @param isExpectedSealed whether one that is not encrypted is refused
 * @throws BackupError when it can't be opened, is incomplete or of a newer program
 */
export async function openBackup(
  folder: string,
  ask: AskToUnlock | null,
  isExpectedSealed = false,
): Promise<{ manifest: Manifest; container: Container }> {
  const isSealed = existsSync(join(folder, KEY));
  const isPlain = existsSync(join(folder, MANIFEST));
  if (isSealed && isPlain) {
    // Else who can write here could have what he added be taken for what was encrypted.
    throw new BackupError(
      `${folder} is an encrypted backup with a ${MANIFEST} that does not belong there: use another.`,
    );
  }
  if (isPlain && isExpectedSealed) {
    throw new BackupError(
      `${folder} is not encrypted: whoever could write there may have made it. To restore it all the same, leave --identity out.`,
    );
  }
  if (!isSealed) {
    const text = (await readSmall(join(folder, MANIFEST), MAX_MANIFEST))?.toString() ?? null;
    const manifest = parseManifest(text, folder, MANIFEST);
    return { manifest, container: createPlainContainer(folder) };
  }
  const path = join(folder, KEY);
  const wrapped = await readSmall(path, MAX_KEY);
  if (!wrapped || !ask) throw new BackupError(`${folder} is an encrypted backup.`);
  const cipher = await openKey(wrapped, await ask(lockOf(wrapped)), path);
  const name = MANIFEST + SEALED;
  const sealed = await readSmall(join(folder, name), MAX_MANIFEST);
  const text = sealed && (await decryptText(sealed, cipher.decrypt, join(folder, name)));
  const manifest = parseManifest(text, folder, name);
  return { manifest, container: createSealedContainer(folder, cipher) };
}

async function decryptText(
  sealed: Uint8Array,
  decrypt: (bytes: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>,
  path: string,
): Promise<string> {
  try {
    return await new Response(await decrypt(new Blob([sealed]).stream())).text();
  } catch (cause) {
    throw new BackupError(`${path} is damaged, or a part of another backup: use another.`, {
      cause,
    });
  }
}
