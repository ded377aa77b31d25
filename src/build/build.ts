import { stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { builtInModel, modelAsset } from "../embedding/manifest.ts";
import { messageOf } from "../errors.ts";
import { readExpected } from "../native/asset.ts";
import {
  CXX_RUNTIME,
  executableName,
  ownTargetName,
  TARGET_NAMES,
  TARGETS,
  type TargetName,
  targetNamed,
} from "../native/targets.ts";
import { type Bundle, compile, isRepositoryAddress } from "./bundle.ts";
import { checkExecutable, checkGlibc } from "./check-executable.ts";
import { compressFile } from "./compress.ts";
import { findLibraries, installTargetModules, type Library } from "./libraries.ts";

const root = join(import.meta.dir, "..", "..");
const dist = join(root, "dist");
const cache = join(root, "node_modules", ".cache", "ctxd");

try {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      // One of targets.ts; this machine's by default.
      target: { type: "string" },
      all: { type: "boolean", default: false },
      // Compresses less, for an executable that nobody else gets.
      quick: { type: "boolean", default: false },
      // Address that `ctxd upgrade` asks for releases; by default that of the running workflow, if any.
      repository: { type: "string", default: workflowRepository() },
    },
  });
  const main = resolve(positionals[0] ?? join(root, "src", "main.ts"));
  // Bun derives the names of chunks from paths relative to the working directory.
  process.chdir(root);
  const options = { main, isQuick: values.quick, repository: parseRepository(values.repository) };
  if (values.all) {
    for (const name of TARGET_NAMES) await build(name, executableName(name), options);
  } else if (values.target) {
    const name = targetNamed(values.target);
    await build(name, executableName(name), options);
  } else await build(targetNamed(ownTargetName()), "ctxd", options);
} catch (error) {
  console.error(`ctxd was not built: ${messageOf(error)}`);
  process.exit(1);
}

/** What is the same for all targets of a build. */
interface Options extends Omit<Bundle, "embedded"> {
  /** Compresses less, for an executable that nobody else gets. */
  isQuick: boolean;
}

async function build(name: TargetName, file: string, options: Options): Promise<void> {
  const started = performance.now();
  const output = join(dist, file);
  const embedded = await compressAssets(name, options.isQuick);
  await compile(name, output, { ...options, embedded });
  await checkExecutable(output, name, Object.values(embedded).flat());
  if (name === ownTargetName()) await smokeTest(output);
  const { size } = await stat(output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${relative(root, output)}: ${(size / 2 ** 20).toFixed(1)} MiB, in ${seconds} s`);
}

/** Compresses the native libraries and the model of a target. */
async function compressAssets(name: TargetName, isQuick: boolean) {
  const modules = await installTargetModules(name, root);
  const { lancedb, inference, cxx } = findLibraries(name, modules);
  const strip = findStrip(name);
  warnOfMissing(name, strip, cxx);
  console.log("compressing files: takes minutes the first time, later they come from the cache");
  const compressLibraries = (libraries: readonly Library[]) =>
    Promise.all(
      libraries.map(async (library) => {
        const content = await Bun.file(library.path).bytes();
        // The C++ runtime is the building machine's and only a fallback: any glibc version is accepted.
        if (library.name !== CXX_RUNTIME) checkGlibc(library, name, content);
        return compressFile({ name: library.name, content }, cache, { isQuick, strip });
      }),
    );
  const model = modelAsset(builtInModel, process.env.CTXD_MODEL_SOURCE || undefined);
  return {
    lancedb: await compressLibraries(lancedb),
    inference: await compressLibraries(inference),
    cxx: await compressLibraries(cxx),
    model: await Promise.all(
      model.files.map(async (source) => {
        const content = Buffer.concat(await Array.fromAsync(readExpected(source)));
        return compressFile({ name: source.name, content }, cache, { isQuick, strip: null });
      }),
    ),
  };
}

/** Without these the executable works, but it is larger or needs a C++ library on the system. */
function warnOfMissing(name: TargetName, strip: string | null, cxx: readonly Library[]): void {
  const { strip: programs, cxx: paths } = TARGETS[name];
  if (programs.length > 0 && strip === null) {
    console.warn(
      `the libraries for ${name} keep their debug symbols: found neither ${programs.join(" nor ")}`,
    );
  }
  if (paths.length > 0 && cxx.length === 0) {
    console.warn(
      `the executable for ${name} needs the system's C++ library: found neither ${paths.join(" nor ")}`,
    );
  }
}

/**
 * The address of the repository whose workflow runs this build; empty outside of a workflow.
 * See GitHub Docs, "Default environment variables".
 */
function workflowRepository(): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? `${server}/${name}` : "";
}

/** @throws Error when the text is not the https address of a repository */
function parseRepository(text: string): string | null {
  if (text === "") return null;
  if (isRepositoryAddress(text)) return text;
  throw new Error(`--repository ${text} is not like https://github.com/OWNER/ctxd`);
}

/** Path of the program that removes debug symbols from a target's libraries; null without one. */
function findStrip(name: TargetName): string | null {
  for (const program of TARGETS[name].strip) {
    const path = Bun.which(program);
    if (path) return path;
  }
  return null;
}

/** Starts an executable that was built for this machine. @throws Error when it does not start */
async function smokeTest(output: string): Promise<void> {
  const { exitCode, stdout, stderr } = await Bun.$`${output} --version`.quiet().nothrow();
  if (exitCode === 0 && stdout.length > 0) return;
  throw new Error(
    `${output} --version ended with ${exitCode}: ${stderr.toString().trim() || "no message"}`,
  );
}
