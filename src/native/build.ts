import { mkdir, stat } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { builtInModel } from "../embedding/manifest.ts";
import { modelAsset } from "../embedding/model.ts";
import { messageOf } from "../errors.ts";
import { readExpected } from "./asset.ts";
import { checkExecutable, checkGlibc } from "./check-executable.ts";
import { compressFile } from "./compress.ts";
import type { EmbeddedFile } from "./embedded.ts";
import { entryPoints } from "./entry-points.ts";
import { generatedModules } from "./generated-modules.ts";
import { findLibraries, type Library } from "./libraries.ts";
import { redirectAddons } from "./redirect-addons.ts";
import { REPOSITORY } from "./repository.ts";
import { targetModules } from "./target-modules.ts";
import {
  CXX_RUNTIME,
  executableName,
  ownTargetName,
  TARGET_NAMES,
  TARGETS,
  type TargetName,
  targetNamed,
} from "./targets.ts";

const root = join(import.meta.dir, "..", "..");
const dist = join(root, "dist");
const cache = join(root, "node_modules", ".cache", "ctxd");

try {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      // Another system than this one; see targets.ts.
      target: { type: "string" },
      all: { type: "boolean", default: false },
      // Compresses little, for an executable that is only to be tried.
      quick: { type: "boolean", default: false },
      // What `ctxd upgrade` asks for releases; that of the workflow which builds it, if there is one.
      repository: { type: "string", default: repositoryOfWorkflow() },
    },
  });
  const main = resolve(positionals[0] ?? join(root, "src", "main.ts"));
  // Bun takes paths as seen from here into the names of chunks.
  process.chdir(root);
  const how = { main, isQuick: values.quick, repository: parseRepository(values.repository) };
  if (values.all) for (const name of TARGET_NAMES) await build(name, executableName(name), how);
  else if (values.target) {
    const name = targetNamed(values.target);
    await build(name, executableName(name), how);
  } else await build(targetNamed(ownTargetName()), "ctxd", how);
} catch (error) {
  console.error(`ctxd was not built: ${messageOf(error)}`);
  process.exit(1);
}

/** What is built, the same for each target. */
interface How {
  /** Path of the module that begins it. */
  readonly main: string;
  readonly isQuick: boolean;
  /** The address that `upgrade/repository.ts` gives. */
  readonly repository: string | null;
}

async function build(name: TargetName, file: string, how: How): Promise<void> {
  const { isQuick } = how;
  const started = performance.now();
  const output = join(dist, file);
  const { lancedb, inference, cxx } = findLibraries(name, await targetModules(name, root));
  const strip = stripOf(name);
  sayWhatIsMissing(name, strip, cxx);
  const model = modelAsset(builtInModel, process.env.CTXD_MODEL_SOURCE || undefined);
  console.log("compressing what was not compressed before: minutes at first, nothing later");
  const compressLibraries = (libraries: readonly Library[]) =>
    Promise.all(
      libraries.map(async (library) => {
        const content = await Bun.file(library.path).bytes();
        // The C++ runtime is for systems that have none: it is as old as that of the building machine.
        if (library.name !== CXX_RUNTIME) checkGlibc(library, name, content);
        return compressFile({ name: library.name, content }, cache, { isQuick, strip });
      }),
    );
  const embedded = {
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
  await compile(name, output, how, embedded);
  await checkExecutable(output, name, Object.values(embedded).flat());
  if (name === ownTargetName()) await smokeTest(output);
  const { size } = await stat(output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${relative(root, output)}: ${(size / 2 ** 20).toFixed(1)} MiB, in ${seconds} s`);
}

/** The executable does its work without these, but is larger, or not for bare systems. */
function sayWhatIsMissing(name: TargetName, strip: string | null, cxx: readonly Library[]): void {
  const { strip: programs, cxx: paths } = TARGETS[name];
  if (programs.length > 0 && strip === null) {
    console.warn(
      `the libraries for ${name} keep their symbols: there is no ${programs.join(", no ")}`,
    );
  }
  if (paths.length > 0 && cxx.length === 0) {
    console.warn(`${name} needs the C++ library of its system: there is no ${paths.join(", no ")}`);
  }
}

/** The repository whose workflow runs; empty elsewhere. GitHub Docs, "Default environment variables". */
function repositoryOfWorkflow(): string {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env;
  return server && name ? `${server}/${name}` : "";
}

/** @throws Error when it is not the https address of a repository */
function parseRepository(text: string): string | null {
  if (text === "") return null;
  if (REPOSITORY.test(text)) return text;
  throw new Error(`--repository ${text} is not like https://github.com/OWNER/ctxd`);
}

/** The program that removes symbols from a target's libraries; null where there is none. */
function stripOf(name: TargetName): string | null {
  for (const program of TARGETS[name].strip) {
    const path = Bun.which(program);
    if (path) return path;
  }
  return null;
}

async function compile(
  name: TargetName,
  output: string,
  { main, repository }: How,
  embedded: Record<string, EmbeddedFile[]>,
): Promise<void> {
  const { os, cpu } = TARGETS[name];
  await mkdir(dist, { recursive: true });
  await Bun.build({
    entrypoints: entryPoints(main),
    root: join(root, "src"),
    // Not the identifiers: names of classes are part of messages.
    minify: { whitespace: true, syntax: true },
    // A command loads what it needs, and finds it compiled: the bridge of an agent starts in a tenth
    // of the time. Functions within functions are compiled when they are called: all of them would
    // take 8 MB more and save little.
    splitting: true,
    format: "esm",
    bytecode: true,
    bytecodeDepth: 0,
    // A package names its own folder, which differs from machine to machine: the bytes would too.
    define: { __dirname: JSON.stringify("/") },
    plugins: [
      redirectAddons,
      generatedModules({
        [join(import.meta.dir, "embedded.ts")]: embeddedModule(embedded),
        [join(root, "src", "upgrade", "repository.ts")]:
          `export const repository = ${JSON.stringify(repository)};`,
      }),
    ],
    compile: {
      outfile: output,
      target: `bun-${os === "win32" ? "windows" : os}-${cpu}`,
      autoloadDotenv: false,
      autoloadBunfig: false,
    },
  });
}

/** The module that stands in for `embedded.ts`. */
function embeddedModule(assets: Record<string, EmbeddedFile[]>): string {
  const paths = new Map<string, string>();
  for (const { path } of Object.values(assets).flat()) paths.set(path, `file${paths.size}`);
  const imports = [...paths].map(
    ([path, name]) => `import ${name} from ${JSON.stringify(path)} with { type: "file" };`,
  );
  const entries = Object.entries(assets).map(([asset, files]) => {
    const list = files.map(
      ({ name, bytes, sha256, path }) =>
        `{ ...${JSON.stringify({ name, bytes, sha256 })}, path: ${paths.get(path)} }`,
    );
    return `${JSON.stringify(asset)}: [${list.join(", ")}]`;
  });
  return `${imports.join("\n")}\nexport const embedded = { ${entries.join(", ")} };\n`;
}

/** What was built must at least start on the machine that built it. */
async function smokeTest(output: string): Promise<void> {
  const { exitCode, stdout, stderr } = await Bun.$`${output} --version`.quiet().nothrow();
  if (exitCode === 0 && stdout.length > 0) return;
  throw new Error(
    `${output} --version ended with ${exitCode}: ${stderr.toString().trim() || "no message"}`,
  );
}
