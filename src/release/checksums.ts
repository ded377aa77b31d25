import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { hashFile } from "../native/asset.ts";
import { CHECKSUMS } from "../upgrade/checksums.ts";
import type { Release } from "./release-info.ts";

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
  for (const name of names) lines.push(`${await hashFile(join(out, name))}  ${name}\n`);
  const path = join(out, CHECKSUMS);
  await Bun.write(path, lines.join(""));
  return [path];
}
