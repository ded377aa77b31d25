import { mkdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { builtInModel } from "../embedding/manifest.ts";
import { modelAsset } from "../embedding/model.ts";
import { type AssetFile, readExpected } from "./asset.ts";
import { compressFile } from "./compress.ts";
import type { EmbeddedFile } from "./embedded.ts";
import { findCxxRuntime, findLibraries, type Library } from "./libraries.ts";
import { redirectAddons } from "./redirect-addons.ts";

const root = join(import.meta.dir, "..", "..");
const output = join(root, "dist", "ctxd");
const cache = join(root, "node_modules", ".cache", "ctxd");

const { values, positionals } = parseArgs({
  args: Bun.argv.slice(2),
  allowPositionals: true,
  // Compresses little, for an executable that is only to be tried.
  options: { quick: { type: "boolean", default: false } },
});

try {
  await build(positionals[0] ?? join(root, "src", "main.ts"));
} catch (error) {
  console.error(`ctxd was not built: ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

async function build(main: string): Promise<void> {
  const started = performance.now();
  const { lancedb, inference } = findLibraries();
  const model = modelAsset(builtInModel, process.env.CTXD_MODEL_SOURCE || undefined);
  console.log("compressing what was not compressed before: minutes at first, nothing later");
  const embedded = {
    lancedb: await compressLibraries(lancedb),
    inference: await compressLibraries(inference),
    cxx: await compressLibraries(findCxxRuntime()),
    model: await compressModel(model.files),
  };
  await compile(main, embedded);
  await smokeTest();
  const { size } = await stat(output);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(
    `${relative(process.cwd(), output)}: ${(size / 2 ** 20).toFixed(1)} MiB, in ${seconds} s`,
  );
}

async function compile(main: string, embedded: Record<string, EmbeddedFile[]>): Promise<void> {
  await mkdir(join(root, "dist"), { recursive: true });
  await Bun.build({
    // The workers are named too: they are loaded by their paths, and nothing imports them.
    entrypoints: [
      main,
      join(root, "src", "embedding", "worker.ts"),
      join(root, "src", "import", "reader-worker.ts"),
    ],
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
    files: { [join(import.meta.dir, "embedded.ts")]: embeddedModule(embedded) },
    plugins: [redirectAddons],
    compile: { outfile: output, autoloadDotenv: false, autoloadBunfig: false },
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

function compressLibraries(libraries: readonly Library[]): Promise<EmbeddedFile[]> {
  // On macOS a library without its symbols would have to be signed again.
  const strip = process.platform === "linux";
  return Promise.all(
    libraries.map(async ({ name, path }) =>
      compressFile({ name, content: await Bun.file(path).bytes(), strip }, cache, values.quick),
    ),
  );
}

function compressModel(sources: readonly AssetFile[]): Promise<EmbeddedFile[]> {
  return Promise.all(
    sources.map(async (source) => {
      const content = Buffer.concat(await Array.fromAsync(readExpected(source)));
      return compressFile({ name: source.name, content, strip: false }, cache, values.quick);
    }),
  );
}

/** What was built must at least start on the machine that built it. */
async function smokeTest(): Promise<void> {
  const { exitCode, stdout, stderr } = await Bun.$`${output} --version`.quiet().nothrow();
  if (exitCode === 0 && stdout.length > 0) return;
  throw new Error(
    `${output} --version ended with ${exitCode}: ${stderr.toString().trim() || "no message"}`,
  );
}
