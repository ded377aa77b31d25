import { readFile, stat } from "node:fs/promises";
import type { Lock } from "../backup/age.ts";
import { explainFailure } from "../backup/backup-error.ts";
import type { Manifest } from "../backup/manifest.ts";
import type { AskToUnlock } from "../backup/open-backup.ts";
import { askHidden, CommandError, isInteractive, readSecret, usageError } from "./terminal.ts";

/** Long, because an attacker with a copy of the backup can try passphrases offline without limit. */
const MIN_PASSPHRASE_LENGTH = 12;
/** Largest size of an identity file, in bytes. */
const MAX_IDENTITY_BYTES = 64 << 10;

/**
 * Reads how a backup is encrypted; null if it is not.
 * @param wanted the values of `--encrypt`, `true` for one without a value; null without the flag
 * @param recipients the recipients of the settings, used without the flag
 * @throws CommandError for a passphrase that is too short, or a malformed recipient
 */
export async function readLock(
  wanted: readonly (string | true)[] | null,
  recipients: readonly string[],
): Promise<Lock | null> {
  if (wanted === null) return recipients.length > 0 ? { recipients } : null;
  const named = wanted.filter((recipient) => recipient !== true);
  if (named.length === 0) return { passphrase: await readNewPassphrase() };
  if (named.length < wanted.length) {
    throw usageError("Encrypt a backup to recipients or with a passphrase, not with both.");
  }
  if (named.some((recipient) => !recipient.startsWith("age1"))) {
    throw usageError(
      "--encrypt takes an age recipient, which begins with age1. For a passphrase, write it without a value after the folder.",
    );
  }
  return { recipients: named };
}

/**
 * Decrypts a backup with the identities of a file, or with a passphrase, which is asked for or read as
 * one line of standard input.
 * @param file the value of `--identity`; null without the flag
 */
export function unlockBy(file: string | null): AskToUnlock {
  return async (kind) => {
    if (kind === "identity") {
      if (file !== null) return { identities: await readIdentities(file) };
      throw usageError(
        "This backup is encrypted to a key: give the identity file of age-keygen with --identity FILE.",
      );
    }
    if (file !== null) {
      throw usageError("This backup is encrypted with a passphrase: leave --identity out.");
    }
    return { passphrase: await readSecret("Passphrase: ") };
  };
}

async function readNewPassphrase(): Promise<string> {
  const passphrase = await readSecret(
    `Passphrase (at least ${MIN_PASSPHRASE_LENGTH} characters): `,
  );
  if ([...passphrase].length < MIN_PASSPHRASE_LENGTH) {
    throw new CommandError(`A passphrase has at least ${MIN_PASSPHRASE_LENGTH} characters.`);
  }
  if (!isInteractive() || (await askHidden("Repeat it: ")) === passphrase) return passphrase;
  throw new CommandError("The two passphrases differ; nothing was written.");
}

/** Reads an identity file of age-keygen: one identity per line, and comment lines. */
async function readIdentities(path: string): Promise<string[]> {
  const text = await explainFailure(path, "read", async () => {
    const { size } = await stat(path);
    if (size > MAX_IDENTITY_BYTES)
      throw new CommandError(`${path} is too large for an identity file.`);
    return await readFile(path, "utf8");
  });
  const lines = text.split("\n").map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (identities.length > 0 && identities.every((line) => line.startsWith("AGE-SECRET-KEY-"))) {
    return identities;
  }
  throw new CommandError(
    `${path} is not an identity file: each line of one begins with AGE-SECRET-KEY- or #.`,
  );
}

/** Describes the contents of a backup: accounts, tables, files and their size. */
export function describeBackup({ accounts, tables, files }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${count(accounts, "account")}, ${count(tables, "table")} of memories`,
    `${count(files.length, "file")} (${size})`,
  ].join(", ");
}

/** Formats a number with its noun, such as `2 keys`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
