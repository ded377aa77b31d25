import { chmod, copyFile, link, mkdir, rm } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { version } from "../../../package.json" with { type: "json" };
import { messageOf } from "../../errors.ts";
import { executableName, TARGET_NAMES, type TargetName } from "../../native/targets.ts";
import { isRepositoryAddress } from "../bundle.ts";
import type { Release } from "./release-info.ts";
import { disagreements } from "./version.ts";

/** A package or document of a release. */
interface Part {
  /** Writes files to the release's folder, and returns their paths. */
  make(release: Release): Promise<string[]>;
}

/** All parts of a release beside the executables, in the order of writing them. */
const PARTS: Record<string, () => Promise<Part>> = {
  npm: () => import("./npm/packages.ts"),
  wheel: () => import("./wheel.ts"),
  mcpb: () => import("./mcpb.ts"),
  "claude-plugin": () => import("./claude-plugin/claude-plugin.ts"),
  // After the bundles, because it contains their checksums.
  "mcp-registry": () => import("./mcp-registry.ts"),
  deb: () => import("./deb/deb.ts"),
  image: () => import("./image.ts"),
  homebrew: () => import("./homebrew.ts"),
  winget: () => import("./winget.ts"),
  "install-script": () => import("./install-script.ts"),
  sbom: () => import("./sbom.ts"),
  notes: () => import("./notes.ts"),
  // Last, because it reads the files of all others.
  checksums: () => import("./checksums.ts"),
};

const USAGE =
  "bun src/build/release/release.ts --repository https://github.com/OWNER/ctxd [--out dist/release] " +
  "[--executables dist] [--only PART,…] [--tag vVERSION]";

/**
 * Writes the parts of a release.
 * @param only names of parts; empty for all
 * @returns the paths of the written files
 */
export async function makeRelease(release: Release, only: readonly string[]): Promise<string[]> {
  const unknown = only.find((name) => !(name in PARTS));
  if (unknown !== undefined)
    throw new Error(`there is no part ${unknown}, only ${Object.keys(PARTS).join(", ")}`);
  const written = Object.values(release.executables);
  for (const [name, load] of Object.entries(PARTS)) {
    if (only.length > 0 && !only.includes(name)) continue;
    const { make } = await load();
    written.push(...(await make(release)));
  }
  return written;
}

/** Links or copies the built executables to the folder of a release. */
async function takeExecutables(from: string, out: string): Promise<Release["executables"]> {
  const found: Partial<Record<TargetName, string>> = {};
  for (const target of TARGET_NAMES) {
    const file = executableName(target);
    if (!(await Bun.file(join(from, file)).exists())) continue;
    const path = join(out, file);
    if (from !== out) {
      await rm(path, { force: true });
      await link(join(from, file), path).catch(() => copyFile(join(from, file), path));
    }
    // Artifacts of workflows lose their mode.
    await chmod(path, 0o755);
    found[target] = path;
  }
  if (Object.keys(found).length > 0) return found;
  throw new Error(`${from} contains no executable: build them with bun run build --all`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      out: { type: "string", default: "dist/release" },
      executables: { type: "string", default: "dist" },
      repository: { type: "string" },
      only: { type: "string", default: "" },
      tag: { type: "string" },
    },
  });
  const repository = values.repository?.replace(/(?<!\/)\/+$/, "") ?? "";
  if (!isRepositoryAddress(repository)) throw new Error(`usage: ${USAGE}`);
  if (values.tag !== undefined) {
    const [first] = await disagreements(values.tag.replace(/^v/, ""));
    if (first) throw new Error(`the tag is ${values.tag}, but ${first}`);
  }
  const out = resolve(values.out);
  await mkdir(out, { recursive: true });
  const executables = await takeExecutables(resolve(values.executables), out);
  const only = values.only.split(",").filter((name) => name !== "");
  const written = await makeRelease({ version, repository, executables, out }, only);
  for (const path of written) console.log(relative(process.cwd(), path));
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(`the release was not created: ${messageOf(error)}`);
    process.exit(1);
  }
}
