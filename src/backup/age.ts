import { BackupError } from "./backup-error.ts";

/** What a backup is encrypted with: recipients (`age1…`) or a passphrase. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** What decrypts a backup. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

/** Converts a stream of bytes to another. */
export type Transform = (bytes: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>;

/** Encrypts and decrypts with the key of one backup. */
export interface Cipher {
  readonly encrypt: Transform;
  readonly decrypt: Transform;
}

/**
 * Creates the key of a new backup. Each backup has its own. A file that is not encrypted with it is not part
 * of the backup, and nobody can create such a file by knowing only a recipient.
 * @returns `wrapped` is the key that the backup contains: an age identity, encrypted for `lock`
 * @throws BackupError for an invalid recipient
 */
export async function createKey(lock: Lock): Promise<{ cipher: Cipher; wrapped: Uint8Array }> {
  const age = await import("age-encryption");
  const identity = await age.generateX25519Identity();
  const encrypter = new age.Encrypter();
  if ("passphrase" in lock) encrypter.setPassphrase(lock.passphrase);
  else for (const recipient of lock.recipients) await addRecipient(encrypter, recipient);
  const wrapped = await encrypter.encrypt(`${identity}\n`);
  return { cipher: await cipherOf(identity), wrapped };
}

/** Checks recipients. @throws BackupError for an invalid one */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  if (recipients.length === 0) return;
  const age = await import("age-encryption");
  for (const recipient of recipients) await addRecipient(new age.Encrypter(), recipient);
}

/**
 * The header of a key that a passphrase decrypts, with the base-2 logarithm of its work factor
 * (https://c2sp.org/age, "The scrypt recipient stanza").
 */
const SCRYPT = /^age-encryption\.org\/v1\n-> scrypt (?:\S+ (\d+)\n)?/;
/** The work factor of age and of this program. It takes 256 MiB of memory, and each number more twice as much. */
const MAX_WORK_FACTOR = 18;

function scryptHeader(wrapped: Uint8Array): RegExpExecArray | null {
  return SCRYPT.exec(new TextDecoder().decode(wrapped.subarray(0, 200)));
}

/** Whether a passphrase or an identity decrypts the key of a backup. */
export function lockOf(wrapped: Uint8Array): "passphrase" | "identity" {
  return scryptHeader(wrapped) === null ? "identity" : "passphrase";
}

/**
 * Decrypts the key of a backup.
 * @param name path of its file, for error messages
 * @throws BackupError when it was encrypted for somebody else or is damaged
 */
export async function openKey(wrapped: Uint8Array, unlock: Unlock, name: string): Promise<Cipher> {
  if (Number(scryptHeader(wrapped)?.[1] ?? 0) > MAX_WORK_FACTOR) {
    throw new BackupError(`${name} takes too much memory to open: use another backup.`);
  }
  const age = await import("age-encryption");
  const decrypter = new age.Decrypter();
  if ("passphrase" in unlock) decrypter.addPassphrase(unlock.passphrase);
  else for (const identity of unlock.identities) addIdentity(decrypter, identity);
  const wrong = "passphrase" in unlock ? "the passphrase is wrong" : "this identity does not match";
  let identity: string;
  try {
    identity = (await decrypter.decrypt(wrapped, "text")).trim();
  } catch (cause) {
    throw new BackupError(`${name} can't be opened: ${wrong}, or the file is damaged.`, { cause });
  }
  try {
    return await cipherOf(identity);
  } catch (cause) {
    throw new BackupError(`${name} does not contain the key of a backup.`, { cause });
  }
}

async function cipherOf(identity: string): Promise<Cipher> {
  const { Decrypter, Encrypter, identityToRecipient } = await import("age-encryption");
  const encrypter = new Encrypter();
  encrypter.addRecipient(await identityToRecipient(identity));
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  return {
    encrypt: (bytes) => encrypter.encrypt(bytes),
    decrypt: (bytes) => decrypter.decrypt(bytes),
  };
}

async function addRecipient(
  encrypter: { addRecipient(recipient: string): void; encrypt(file: string): Promise<unknown> },
  recipient: string,
): Promise<void> {
  try {
    encrypter.addRecipient(recipient);
    // age checks some recipients only when it encrypts.
    await encrypter.encrypt("");
  } catch (cause) {
    // The message does not repeat the text: it may be a secret key.
    throw new BackupError(
      "The recipient of a backup is not valid: age-keygen prints one, which begins with age1.",
      { cause },
    );
  }
}

function addIdentity(decrypter: { addIdentity(identity: string): void }, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch (cause) {
    throw new BackupError(
      "The file contains no age identity: a line that begins with AGE-SECRET-KEY-1.",
      { cause },
    );
  }
}
