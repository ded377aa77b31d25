import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Release } from "./release-info.ts";
import { sha256Of } from "./sha256.ts";

/** The file with the checksums, in the format that `sha256sum --check` reads. */
export const CHECKSUMS = "SHA256SUMS";

/** What is made of the checksums, and what goes into no download. */
const LEFT_OUT = [CHECKSUMS, `${CHECKSUMS}.sigstore.json`, "NOTES.md"];

/** Writes the checksums of all files that lie directly in the folder, in the order of their names. */
export async function make({ out }: Release): Promise<string[]> {
  const entries = await readdir(out, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && !LEFT_OUT.includes(entry.name))
    .map(({ name }) => name)
    .sort();
  const lines: string[] = [];
  for (const name of names) lines.push(`${await sha256Of(join(out, name))}  ${name}\n`);
  const path = join(out, CHECKSUMS);
  await Bun.write(path, lines.join(""));
  return [path];
}
