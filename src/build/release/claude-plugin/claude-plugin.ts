import { join } from "node:path";
import { Glob } from "bun";
import { ownerOf, type Release } from "../release-info.ts";
import { writeZip, type ZipEntry } from "../zip.ts";

/** The file of a release with the Claude Code plugin and a marketplace that lists only this plugin. */
const PLUGIN_ARCHIVE = "ctxd-claude-plugin.zip";

const ROOT = join(import.meta.dir, "..", "..", "..", "..");
/** The plugin's folder, which `/plugin install ctxd --marketplace OWNER/ctxd` reads from the repository. */
const PLUGIN = join(import.meta.dir, "plugin");
const MANIFEST = ".claude-plugin/plugin.json";
/** The repository's marketplace, which refers to the plugin's folder. */
const MARKETPLACE = ".claude-plugin/marketplace.json";

/**
 * Writes the plugin as an archive, for machines that can't reach the repository. Its manifest contains the
 * version. From a repository Claude Code would use the commit instead
 * (https://code.claude.com/docs/en/plugins-reference).
 */
export async function make(release: Release): Promise<string[]> {
  const path = join(release.out, PLUGIN_ARCHIVE);
  const names = await Array.fromAsync(new Glob("**/*").scan({ cwd: PLUGIN, dot: true }));
  const rest = names.filter((name) => name !== MANIFEST).sort();
  await writeZip(path, [
    await manifestOf(release),
    await marketplaceOf(release),
    ...rest.map((name) => ({ name, path: join(PLUGIN, name) })),
    { name: "LICENSE", path: join(ROOT, "LICENSE") },
  ]);
  return [path];
}

async function manifestOf(release: Release): Promise<ZipEntry> {
  const { name, ...rest } = await Bun.file(join(PLUGIN, MANIFEST)).json();
  const { version, repository } = release;
  const author = { name: ownerOf(release) };
  return asJson(MANIFEST, { name, version, ...rest, author, homepage: repository, repository });
}

async function marketplaceOf(release: Release): Promise<ZipEntry> {
  const { plugins, ...rest } = await Bun.file(join(ROOT, MARKETPLACE)).json();
  const owner = { name: ownerOf(release) };
  const here = plugins.map((plugin: object) => ({ ...plugin, source: "./" }));
  return asJson(MARKETPLACE, { ...rest, owner, plugins: here });
}

function asJson(name: string, value: unknown): ZipEntry {
  return { name, text: `${JSON.stringify(value, null, 2)}\n` };
}
