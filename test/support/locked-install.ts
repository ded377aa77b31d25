import { existsSync } from "node:fs";
import { cp, mkdir, rename, rm } from "node:fs/promises";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");
const CACHE = join(ROOT, "node_modules", ".cache", "ctxd-test");

/**
 * Installs programs of the npm registry, once for each state of their lock file. Returns their `node_modules`.
 * @param source the folder with `package.json` and `bun.lock`
 * @param kind tells folders of the same name apart
 */
export async function installLocked(source: string, kind: string): Promise<string> {
  const lock = await Bun.file(join(source, "bun.lock")).bytes();
  const name = `${kind}-${basename(source)}-${Bun.hash(lock).toString(36)}`;
  const folder = join(CACHE, name);
  if (!existsSync(folder)) await installInto(folder, source);
  return join(folder, "node_modules");
}

async function installInto(folder: string, source: string): Promise<void> {
  // Several processes may do this at once, and each must see whole folders only.
  const unfinished = `${folder}-${process.pid}`;
  await mkdir(unfinished, { recursive: true });
  await cp(source, unfinished, { recursive: true });
  const command = ["install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"];
  const child = Bun.spawn([process.execPath, ...command], {
    ...{ cwd: unfinished, stdout: "ignore", stderr: "pipe" },
  });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(`the programs are not installed: ${errors}`);
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}
