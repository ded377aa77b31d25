import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { license } from "../../../package.json" with { type: "json" };
import { run } from "../../native/run.ts";
import { startingScript } from "../../system/shell.ts";
import type { Release } from "../release-info.ts";

const ROOT = join(import.meta.dir, "..", "..", "..");

/** What the package.json of every package says. */
export function commonFields({ version, repository }: Release) {
  return {
    version,
    license,
    homepage: `${repository}#readme`,
    bugs: `${repository}/issues`,
    // npm holds this address to that of the workflow that publishes (provenance).
    repository: { type: "git", url: `git+${repository}.git` },
    publishConfig: { access: "public" },
  };
}

export async function writeReadme(folder: string, text: string): Promise<void> {
  await Bun.write(join(folder, "README.md"), text);
}

/**
 * Packs what `fill` puts into a folder, as the file that `npm publish` takes; it returns the package.json.
 * @returns the file's path
 */
export async function pack(
  { out }: Release,
  fill: (folder: string) => Promise<Record<string, unknown>>,
): Promise<string> {
  // Beside the executables, so that they can be linked instead of copied.
  const folder = await mkdtemp(join(out, ".npm-"));
  try {
    const fields = await fill(folder);
    await Bun.write(join(folder, "package.json"), `${JSON.stringify(fields, null, 2)}\n`);
    for (const file of ["LICENSE", "NOTICE"]) await copyFile(join(ROOT, file), join(folder, file));
    const command = ["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", out];
    const said = await run(startingScript(command), { cwd: folder });
    const file = /"filename":\s*"([^"]+)"/.exec(said)?.[1];
    if (file === undefined) throw new Error(`npm pack named no file: ${said}`);
    return join(out, file.replace("@", "").replace("/", "-"));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
