import { chmod, copyFile, link, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { description, name } from "../../../../package.json" with { type: "json" };
import { TARGETS, type TargetName } from "../../../native/targets.ts";
import { mcpName, type Release } from "../release-info.ts";
import { packClient } from "./client.ts";
import { commonFields, pack, writeReadme } from "./pack.ts";

const LAUNCHER = "launcher.cjs";
const KEYWORDS = ["ai", "agent", "mcp", "mcp-server", "memory", "semantic-search"];

/**
 * Packs the npm packages, as files for `npm publish`: one for each executable, which npm installs only on its
 * system; `@ctxd/client`; and `ctxd`, whose command starts the executable. They run no script on installation.
 * The last path is that of `ctxd`. It must be published last, because it depends on the others.
 */
export async function make(release: Release): Promise<string[]> {
  const targets = Object.keys(release.executables) as TargetName[];
  return Promise.all([
    ...targets.map((target) => packTarget(release, target)),
    packClient(release),
    packLauncher(release, targets),
  ]);
}

async function packTarget(release: Release, target: TargetName): Promise<string> {
  const { os, cpu } = TARGETS[target];
  const executable = release.executables[target];
  if (executable === undefined) throw new Error(`there is no executable for ${target}`);
  return pack(release, async (folder) => {
    const path = join(folder, "bin", `${name}${os === "win32" ? ".exe" : ""}`);
    await mkdir(join(folder, "bin"));
    await link(executable, path).catch(() => copyFile(executable, path));
    await chmod(path, 0o755);
    await writeReadme(folder, `The executable of ctxd for ${target}: install \`ctxd\` instead.\n`);
    return {
      ...commonFields(release),
      name: packageOf(target),
      description: `${description} (${target})`,
      os: [os],
      cpu: [cpu],
      // npm, pnpm and Yarn do not install the package on systems with musl.
      ...(os === "linux" ? { libc: ["glibc"] } : {}),
      // Yarn would keep it in a ZIP archive, where it can't be started.
      preferUnplugged: true,
      files: ["bin", "NOTICE"],
    };
  });
}

function packLauncher(release: Release, targets: readonly TargetName[]): Promise<string> {
  return pack(release, async (folder) => {
    const path = join(folder, LAUNCHER);
    await copyFile(join(import.meta.dir, LAUNCHER), path);
    await chmod(path, 0o755);
    const readme = await Bun.file(join(import.meta.dir, "readme.md")).text();
    await writeReadme(folder, readme.replace("REPOSITORY", release.repository));
    return {
      ...commonFields(release),
      name,
      description,
      keywords: KEYWORDS,
      mcpName: mcpName(release),
      bin: { [name]: LAUNCHER },
      files: [LAUNCHER, "NOTICE"],
      engines: { node: ">=18" },
      optionalDependencies: Object.fromEntries(
        targets.map((target) => [packageOf(target), release.version]),
      ),
    };
  });
}

function packageOf(target: TargetName): string {
  return `@${name}/${target}`;
}
