import { BackupError } from "./backup-error.ts";

/** To whom a backup is encrypted: holders of identities (`age1…`), or who knows a passphrase. */
export type Lock = { readonly recipients: readonly string[] } | { readonly passphrase: string };

/** What opens an encrypted backup. */
export type Unlock = { readonly identities: readonly string[] } | { readonly passphrase: string };

/** Turns a stream of bytes into another. */
export type Transform = (bytes: ReadableStream<Uint8Array>) => Promise<ReadableStream<Uint8Array>>;

/** Encrypts and decrypts with the key of one backup. */
export interface Cipher {
  readonly encrypt: Transform;
  readonly decrypt: Transform;
}

/**
 * Makes the key of a new backup. Each backup has its own, which no other knows: what was not
 * encrypted with it does not belong to the backup, and who only knows a recipient can't make it.
 * @returns also the key as it is kept: an age identity, encrypted for `lock`
 * @throws BackupError for what is no recipient
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

/** @throws BackupError for what is no recipient */
export async function checkRecipients(recipients: readonly string[]): Promise<void> {
  if (recipients.length === 0) return;
  const age = await import("age-encryption");
  for (const recipient of recipients) await addRecipient(new age.Encrypter(), recipient);
}

/** What the key of a backup is encrypted with. */
export function lockOf(wrapped: Uint8Array): "passphrase" | "identity" {
  const header = new TextDecoder().decode(wrapped.subarray(0, 200));
  return /^age-encryption\.org\/v1\n-> scrypt /.test(header) ? "passphrase" : "identity";
}

/**
 * The key of a backup.
 * @param name how to call the file that it comes from
 * @throws BackupError when it was encrypted for somebody else, or is damaged
 */
export async function openKey(wrapped: Uint8Array, unlock: Unlock, name: string): Promise<Cipher> {
  const age = await import("age-encryption");
  const decrypter = new age.Decrypter();
  if ("passphrase" in unlock) decrypter.addPassphrase(unlock.passphrase);
  else for (const identity of unlock.identities) addIdentity(decrypter, identity);
  const wrong = "passphrase" in unlock ? "the passphrase is wrong" : "this identity does not fit";
  let identity: string;
  try {
    identity = (await decrypter.decrypt(wrapped, "text")).trim();
  } catch (cause) {
    throw new BackupError(`${name} can't be opened: ${wrong}, or the file is damaged.`, { cause });
  }
  try {
    return await cipherOf(identity);
  } catch (cause) {
    throw new BackupError(`${name} holds no key of a backup.`, { cause });
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
    // Some are looked at only when they are used.
    await encrypter.encrypt("");
  } catch (cause) {
    // Not what it is: somebody may have taken a secret for it.
    throw new BackupError(
      "What backups are encrypted to is no recipient of age: it begins with age1, and age-keygen makes one.",
      { cause },
    );
  }
}

function addIdentity(decrypter: { addIdentity(identity: string): void }, identity: string): void {
  try {
    decrypter.addIdentity(identity);
  } catch (cause) {
    throw new BackupError(
      "The file has no identity of age in it: a line that begins with AGE-SECRET-KEY-1.",
      { cause },
    );
  }
}
