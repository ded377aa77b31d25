import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { run } from "./run.ts";
import { ownTargetName, TARGETS, type TargetName } from "./targets.ts";

/** What tells Bun which packages to install, and with which content: the lock file has their hashes. */
const FILES = ["package.json", "bun.lock", "bunfig.toml"];

/**
 * The `node_modules` folder that has a target's native packages. For another system than this one they
 * are installed beside the checkout's own, as its lock file has them: npm picks those by system.
 * @throws Error when they can't be installed
 */
export async function targetModules(name: TargetName, root: string): Promise<string> {
  const modules = join(root, "node_modules");
  if (name === ownTargetName()) return modules;
  const folder = join(modules, ".cache", "ctxd", "targets", name);
  await mkdir(folder, { recursive: true });
  for (const file of FILES) await copyFile(join(root, file), join(folder, file));
  const { os, cpu } = TARGETS[name];
  const options = ["--frozen-lockfile", "--production", "--ignore-scripts", "--no-summary"];
  const install = [process.execPath, "install", ...options, `--os=${os}`, `--cpu=${cpu}`];
  await run(install, { cwd: folder });
  return join(folder, "node_modules");
}
