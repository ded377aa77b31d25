import { UpgradeError } from "./upgrade-error.ts";

/** The file of a release with the SHA-256 of each of its files, in the format that `sha256sum --check` reads. */
export const CHECKSUMS = "SHA256SUMS";

/** The SHA-256 of a file. Lines have 64 digits, a space, a space or an asterisk, and the name. */
export function checksumOf(checksums: string, name: string): string {
  for (const line of checksums.split("\n")) {
    const [, sha256, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    if (sha256 && file === name) return sha256;
  }
  throw new UpgradeError(`${CHECKSUMS} of the release has no line for ${name}.`);
}
