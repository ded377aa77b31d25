import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../../native/asset.ts";
import type { Release } from "./release-info.ts";

/** The file in a release that lists the SHA-256 of every other file, in the format of `sha256sum --check`. */
export const CHECKSUMS = "SHA256SUMS";

/** Files without a checksum: the checksums, their signature, and the notes, which nobody downloads. */
const EXCLUDED = [CHECKSUMS, `${CHECKSUMS}.sigstore.json`, "NOTES.md"];

/** Writes the checksums of all files in the release's folder, without its subfolders, sorted by name. */
export async function make({ out }: Release): Promise<string[]> {
  const entries = await readdir(out, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !EXCLUDED.includes(entry.name))
    .map(({ name }) => name)
    .sort();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await hashFile(join(out, name))}  ${name}\n`);
  const path = join(out, CHECKSUMS);
  await Bun.write(path, lines.join(""));
  return [path];
}
