import { UpgradeError } from "./upgrade-error.ts";

/** The file in a release that lists the SHA-256 of every other file, in the format of `sha256sum --check`. */
export const CHECKSUMS = "SHA256SUMS";

/** The SHA-256 of a file. A line has 64 digits, a space, a space or an asterisk, and the name. */
export function checksumOf(checksums: string, name: string): string {
  for (const line of checksums.split("\n")) {
    const [, sha256, file] = /^([0-9a-f]{64}) [ *](.+?)\r?$/.exec(line) ?? [];
    if (sha256 && file === name) return sha256;
  }
  throw new UpgradeError(`${CHECKSUMS} of the release has no line for ${name}.`);
}
