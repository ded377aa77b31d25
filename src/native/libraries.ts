import { existsSync } from "node:fs";
import { join } from "node:path";
import { CXX_RUNTIME, TARGETS, type TargetName } from "./targets.ts";

/** A native library to be put into the executable, and the name it is unpacked under. */
export interface Library {
  readonly name: string;
  readonly path: string;
}

/** The assets of an executable that are native libraries. */
export type Libraries = Record<"lancedb" | "inference" | "cxx", Library[]>;

/**
 * The native libraries of a target, by the asset they belong to.
 * @param modules the `node_modules` folder that has its packages
 * @throws Error when one is not installed there
 */
export function findLibraries(name: TargetName, modules: string): Libraries {
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
      // This name is written in the addon.
      find(runtime, runtimeFolder, runtime),
    ],
    cxx: findCxxRuntime(TARGETS[name].cxx),
  };
}

/** The C++ runtime library that the building machine has for a target, for systems that have none. */
function findCxxRuntime(paths: readonly string[]): Library[] {
  const path = paths.find((candidate) => existsSync(candidate));
  return path ? [{ name: CXX_RUNTIME, path }] : [];
}

function find(name: string, folder: string, file: string): Library {
  const path = join(folder, file);
  if (existsSync(path)) return { name, path };
  throw new Error(`${path} is not installed, and the executable can't be built without it.`);
}
