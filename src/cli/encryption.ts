import { readFile, stat } from "node:fs/promises";
import type { Lock } from "../backup/age.ts";
import { explained } from "../backup/backup-error.ts";
import type { AskToUnlock } from "../backup/open-backup.ts";
import { CommandError, USAGE } from "./command-error.ts";
import { askHidden, isInteractive, readLine } from "./terminal.ts";

/** Who has a copy can try passphrases without end and without the server. */
const SHORTEST_PASSPHRASE = 12;
/** Bytes of a file with identities. */
const MAX_IDENTITIES = 64 << 10;

/**
 * To whom a backup is encrypted; null for nobody.
 * @param wanted what `--encrypt` was given, `true` where it was given nothing; null without the flag
 * @param recipients of the settings, which hold without the flag
 * @throws CommandError for a passphrase or recipient that can't be one
 */
export async function readLock(
  wanted: readonly (string | true)[] | null,
  recipients: readonly string[],
): Promise<Lock | null> {
  if (wanted === null) return recipients.length > 0 ? { recipients } : null;
  const named = wanted.filter((recipient) => recipient !== true);
  if (named.length === 0) return { passphrase: await readNewPassphrase() };
  if (named.length < wanted.length) {
    throw new CommandError(
      "A backup is encrypted to recipients or to a passphrase: not to both.",
      USAGE,
    );
  }
  if (named.some((recipient) => !recipient.startsWith("age1"))) {
    throw new CommandError(
      "--encrypt takes a recipient of age, which begins with age1; for a passphrase it stands alone, after the folder.",
      USAGE,
    );
  }
  return { recipients: named };
}

/**
 * How an encrypted backup is opened: by the identities in a file, or by a passphrase that is asked
 * for, or is one line of standard input.
 * @param file null where none was given
 */
export function unlockBy(file: string | null): AskToUnlock {
  return async (kind) => {
    if (kind === "identity") {
      if (file !== null) return { identities: await readIdentities(file) };
      throw new CommandError(
        "This backup is encrypted to a key: give the file that age-keygen made with --identity FILE.",
        USAGE,
      );
    }
    if (file !== null) {
      throw new CommandError(
        "This backup is encrypted with a passphrase: leave --identity out.",
        USAGE,
      );
    }
    return { passphrase: isInteractive() ? await askHidden("Passphrase: ") : await readLine() };
  };
}

async function readNewPassphrase(): Promise<string> {
  const isAsked = isInteractive();
  const passphrase = isAsked
    ? await askHidden(`Passphrase (at least ${SHORTEST_PASSPHRASE} characters): `)
    : await readLine();
  if ([...passphrase].length < SHORTEST_PASSPHRASE) {
    throw new CommandError(`A passphrase has at least ${SHORTEST_PASSPHRASE} characters.`);
  }
  if (!isAsked || (await askHidden("The same again: ")) === passphrase) return passphrase;
  throw new CommandError("The two passphrases differ; nothing was written.");
}

/** The identities in a file as age-keygen writes it: one a line, and lines of comment. */
async function readIdentities(path: string): Promise<string[]> {
  const text = await explained(path, "read", async () => {
    const { size } = await stat(path);
    if (size > MAX_IDENTITIES)
      throw new CommandError(`${path} is too large for a file of identities.`);
    return await readFile(path, "utf8");
  });
  const lines = text.split("\n").map((line) => line.trim());
  const identities = lines.filter((line) => line !== "" && !line.startsWith("#"));
  if (identities.length > 0 && identities.every((line) => line.startsWith("AGE-SECRET-KEY-"))) {
    return identities;
  }
  throw new CommandError(
    `${path} is no file of identities: each of its lines begins with AGE-SECRET-KEY- or #.`,
  );
}
