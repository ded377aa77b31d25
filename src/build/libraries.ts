import { existsSync } from "node:fs";
import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { CXX_RUNTIME, ownTargetName, TARGETS, type TargetName } from "../native/targets.ts";
import { run } from "./run.ts";

/** A native library that the executable carries. */
export interface Library {
  /** Its file name after unpacking. */
  readonly name: string;
  readonly path: string;
}

/** The files that Bun installs packages by. The lock file has the hash of each package. */
const INSTALL_FILES = ["package.json", "bun.lock", "bunfig.toml"];

/**
 * The `node_modules` folder with a target's native packages. This machine's own are in the checkout. Those
 * of another system are installed into a cache folder, by the same lock file.
 * @throws Error when they can't be installed
 */
export async function installTargetModules(name: TargetName, root: string): Promise<string> {
  const modules = join(root, "node_modules");
  if (name === ownTargetName()) return modules;
  const folder = join(modules, ".cache", "ctxd", "targets", name);
  await mkdir(folder, { recursive: true });
  for (const file of INSTALL_FILES) await copyFile(join(root, file), join(folder, file));
  const { os, cpu } = TARGETS[name];
  const options = ["--frozen-lockfile", "--production", "--ignore-scripts", "--no-summary"];
  const install = [process.execPath, "install", ...options, `--os=${os}`, `--cpu=${cpu}`];
  await run(install, { cwd: folder });
  return join(folder, "node_modules");
}

/**
 * The native libraries of a target, by the asset they belong to.
 * @param modules the `node_modules` folder with the target's packages
 * @throws Error when one is not installed there
 */
export function findLibraries(name: TargetName, modules: string) {
  const { os, cpu, lancedb, tokenizers, runtime } = TARGETS[name];
  const runtimeFolder = join(modules, "onnxruntime-node", "bin", "napi-v6", os, cpu);
  const addon = (library: string, scope: string, suffix: string) =>
    find(
      `${library}.node`,
      join(modules, scope, `${library}-${suffix}`),
      `${library}.${suffix}.node`,
    );
  return {
    lancedb: [addon("lancedb", "@lancedb", lancedb)],
    inference: [
      addon("tokenizers", "@anush008", tokenizers),
      find("onnxruntime.node", runtimeFolder, "onnxruntime_binding.node"),
      // The addon loads ONNX Runtime by this file name.
      find(runtime, runtimeFolder, runtime),
    ],
    cxx: findCxxRuntime(TARGETS[name].cxx),
  };
}

/** The C++ runtime library of the building machine, for systems without one; empty when it has none. */
function findCxxRuntime(paths: readonly string[]): Library[] {
  const path = paths.find((candidate) => existsSync(candidate));
  return path ? [{ name: CXX_RUNTIME, path }] : [];
}

function find(name: string, folder: string, file: string): Library {
  const path = join(folder, file);
  if (existsSync(path)) return { name, path };
  throw new Error(`${path} is not installed, and the executable can't be built without it.`);
}
