import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { CXX_RUNTIME } from "./cxx-runtime.ts";

/** A native library to be put into the executable, and the name it is unpacked under. */
export interface Library {
  readonly name: string;
  readonly path: string;
}

/** Where each package keeps its libraries, by platform. macOS is written from its packages, not tried. */
const PLATFORMS: Record<string, { lancedb: string; tokenizers: string; runtime: string }> = {
  "linux-x64": { lancedb: "linux-x64-gnu", tokenizers: "linux-x64-gnu", runtime: "so.1" },
  "linux-arm64": { lancedb: "linux-arm64-gnu", tokenizers: "linux-arm64-gnu", runtime: "so.1" },
  "darwin-arm64": { lancedb: "darwin-arm64", tokenizers: "darwin-universal", runtime: "1.dylib" },
};

/**
 * The C++ runtime library of the building machine, for systems that have none; nothing on macOS,
 * which always has one, and where it was not found.
 */
export function findCxxRuntime(): Library[] {
  if (process.platform !== "linux") return [];
  const cpu = process.arch === "arm64" ? "aarch64" : "x86_64";
  const path = [`/usr/lib/${cpu}-linux-gnu`, `/lib/${cpu}-linux-gnu`, "/usr/lib64", "/usr/lib"]
    .map((folder) => join(folder, CXX_RUNTIME))
    .find((candidate) => existsSync(candidate));
  return path ? [{ name: CXX_RUNTIME, path }] : [];
}

/**
 * The native libraries of a platform, by the asset they belong to.
 * @throws Error when there are none for it, or they are not installed
 */
export function findLibraries(
  platform = `${process.platform}-${process.arch}`,
): Record<"lancedb" | "inference", Library[]> {
  const names = PLATFORMS[platform];
  if (!names) {
    throw new Error(
      `ctxd cannot be built for ${platform}, only for ${Object.keys(PLATFORMS).join(", ")}.`,
    );
  }
  const runtime = packageFolder("onnxruntime-node");
  const runtimeFolder = join(runtime, "bin", "napi-v6", ...platform.split("-"));
  const lancedb = `lancedb.${names.lancedb}.node`;
  const tokenizers = `tokenizers.${names.tokenizers}.node`;
  const runtimeName = `libonnxruntime.${names.runtime}`;
  return {
    lancedb: [library("lancedb.node", packageFolder(`@lancedb/lancedb-${names.lancedb}`), lancedb)],
    inference: [
      library(
        "tokenizers.node",
        packageFolder(`@anush008/tokenizers-${names.tokenizers}`),
        tokenizers,
      ),
      library("onnxruntime.node", runtimeFolder, "onnxruntime_binding.node"),
      // This name is written in the addon.
      library(runtimeName, runtimeFolder, runtimeName),
    ],
  };
}

function packageFolder(name: string): string {
  try {
    return dirname(Bun.resolveSync(`${name}/package.json`, import.meta.dir));
  } catch (cause) {
    throw missing(name, cause);
  }
}

function library(name: string, folder: string, file: string): Library {
  const path = join(folder, file);
  if (!existsSync(path)) throw missing(path);
  return { name, path };
}

function missing(what: string, cause?: unknown): Error {
  return new Error(
    `${what} is not installed, and the executable cannot be built without it: run bun install on this machine.`,
    { cause },
  );
}
