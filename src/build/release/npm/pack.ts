import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { license } from "../../../../package.json" with { type: "json" };
import { startingScript } from "../../../system/shell.ts";
import { run } from "../../run.ts";
import type { Release } from "../release-info.ts";

const ROOT = join(import.meta.dir, "..", "..", "..", "..");

/** Fields of every package.json. */
export function commonFields({ version, repository }: Release) {
  return {
    version,
    license,
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
    // npm compares this address with that of the publishing workflow (provenance).
    repository: { type: "git", url: `git+${repository}.git` },
    publishConfig: { access: "public" },
  };
}

export async function writeReadme(folder: string, text: string): Promise<void> {
  await Bun.write(join(folder, "README.md"), text);
}

/**
 * Packs a folder as a file for `npm publish`.
 * @param fill writes the files to the folder and returns the package.json
 * @returns the path of the packed file
 */
export async function pack(
  { out }: Release,
  fill: (folder: string) => Promise<Record<string, unknown>>,
): Promise<string> {
  // On the same disk as the executables, so that they can be linked instead of copied.
  const folder = await mkdtemp(join(out, ".npm-"));
  try {
    const fields = await fill(folder);
    await Bun.write(join(folder, "package.json"), `${JSON.stringify(fields, null, 2)}\n`);
    for (const file of ["LICENSE", "NOTICE"]) await copyFile(join(ROOT, file), join(folder, file));
    const command = ["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", out];
    const output = await run(startingScript(command), { cwd: folder });
    const file = /"filename":\s*"([^"]+)"/.exec(output)?.[1];
    if (file === undefined) throw new Error(`npm pack printed no file name: ${output}`);
    return join(out, file.replace("@", "").replace("/", "-"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
