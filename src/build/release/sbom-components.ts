import { basename, join } from "node:path";
import { builtInModel } from "../../embedding/manifest.ts";
import { hashFile } from "../../native/asset.ts";
import { CXX_RUNTIME, TARGETS, type TargetName } from "../../native/targets.ts";
import type { Release } from "./release-info.ts";

const MODULES = join(import.meta.dir, "..", "..", "..", "node_modules");

/** The fields of a CycloneDX component that are written here. */
export interface Component {
  type: string;
  name: string;
  "bom-ref"?: string;
  group?: string;
  version?: string;
  description?: string;
  purl?: string;
  licenses?: ({ license: { id: string } } | { expression: string })[];
  hashes?: { alg: string; content: string }[];
  components?: Component[];
}

/** The executables of a release, with their checksums. */
export async function executableComponents({
  executables,
  version,
}: Release): Promise<Component[]> {
  return Promise.all(
    Object.values(executables).map(async (path) => ({
      type: "file",
      name: basename(path),
      version,
      hashes: [{ alg: "SHA-256", content: await hashFile(path) }],
    })),
  );
}

/** The components that the build adds to the executables beside the bundle. */
export async function embeddedComponents({ executables }: Release): Promise<Component[]> {
  const targets = Object.keys(executables) as TargetName[];
  const packages = await Promise.all(
    targets.flatMap((target) => [
      nativePackage("@lancedb", "lancedb", TARGETS[target].lancedb),
      nativePackage("@anush008", "tokenizers", TARGETS[target].tokenizers),
    ]),
  );
  const hasCxx = targets.some((target) => TARGETS[target].cxx.length > 0);
  return [runtime(), ...packages, model(), ...(hasCxx ? [cxxRuntime()] : [])];
}

/** The package with the native library of another package, which declares its version. */
async function nativePackage(scope: string, library: string, system: string): Promise<Component> {
  const manifest = await Bun.file(join(MODULES, scope, library, "package.json")).json();
  const name = `${library}-${system}`;
  const version: string | undefined = manifest.optionalDependencies[`${scope}/${name}`];
  if (version === undefined) throw new Error(`the version of ${scope}/${name} is unknown`);
  const purl = `pkg:npm/${scope.replace("@", "%40")}/${name}@${version}`;
  return {
    type: "library",
    group: scope,
    name,
    version,
    "bom-ref": purl,
    licenses: [{ license: { id: manifest.license } }],
    purl,
  };
}

/** Bun: an executable is a copy of Bun with the bundle. */
function runtime(): Component {
  const purl = `pkg:npm/bun@${Bun.version}`;
  return {
    type: "platform",
    name: "bun",
    version: Bun.version,
    "bom-ref": purl,
    description: "The JavaScript runtime, with JavaScriptCore and SQLite",
    licenses: [{ license: { id: "MIT" } }],
    purl,
  };
}

function model(): Component {
  const { id, title, licence, files } = builtInModel;
  return {
    type: "machine-learning-model",
    name: id,
    "bom-ref": id,
    description: title,
    licenses: [{ license: { id: licence } }],
    components: files.map(({ name, sha256 }) => ({
      type: "file",
      name,
      hashes: [{ alg: "SHA-256", content: sha256 }],
    })),
  };
}

function cxxRuntime(): Component {
  return {
    type: "library",
    name: CXX_RUNTIME,
    "bom-ref": CXX_RUNTIME,
    description: "GCC's C++ runtime library of the building system, for Linux without one",
    licenses: [{ expression: "GPL-3.0-or-later WITH GCC-exception-3.1" }],
  };
}
