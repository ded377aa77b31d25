import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BunPlugin } from "bun";
import type { EmbeddedFile } from "../native/embedded.ts";
import { TARGETS, type TargetName } from "../native/targets.ts";

const SOURCE = join(import.meta.dir, "..");

/** Modules of worker threads. They are loaded by path, so no import leads to them. */
const WORKERS = [
  "backup/copy-worker.ts",
  "embedding/relations/relation-worker.ts",
  "embedding/worker.ts",
  "import/reader-worker.ts",
  "memories/map/map-worker.ts",
];

/** The https address of a repository without a trailing slash: https://github.com/OWNER/ctxd. */
const REPOSITORY = /^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/;

/** What an executable is made of, beside the source. */
export interface Bundle {
  /** Path of the program's first module. */
  main: string;
  /** Address of the repository that `ctxd upgrade` asks for releases; null without one. */
  repository: string | null;
  /** The compressed files, by asset. */
  embedded: Readonly<Record<string, readonly EmbeddedFile[]>>;
}

/** Whether a text is an address that `Bundle.repository` can have. */
export function isRepositoryAddress(text: string): boolean {
  return REPOSITORY.test(text);
}

/** The modules that an executable is bundled from. @param main the first module of the program */
export function entryPoints(main = join(SOURCE, "main.ts")): string[] {
  return [main, ...WORKERS.map((path) => join(SOURCE, path))];
}

/** Bundles the program and compiles it to an executable at `output`. */
export async function compile(
  name: TargetName,
  output: string,
  { main, repository, embedded }: Bundle,
): Promise<void> {
  const { os, cpu } = TARGETS[name];
  await mkdir(dirname(output), { recursive: true });
  await Bun.build({
    entrypoints: entryPoints(main),
    root: SOURCE,
    // Identifiers stay: error messages contain class names.
    minify: { whitespace: true, syntax: true },
    // Each command loads only its own chunks, already compiled to bytecode: the bridge starts ten times
    // as fast. Nested functions are compiled at their first call: compiling them here too would add 8 MB
    // and save little time.
    splitting: true,
    format: "esm",
    bytecode: true,
    bytecodeDepth: 0,
    // Some packages contain the path of their folder. Without this the bytes would differ per machine.
    define: { __dirname: JSON.stringify("/") },
    plugins: [
      redirectAddons,
      compressScript,
      generatedModules({
        [join(SOURCE, "native", "embedded.ts")]: embeddedModule(embedded),
        [join(SOURCE, "upgrade", "repository.ts")]:
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

/** How packages import their native addons, and the names that `openAddon` knows the addons by. */
const ADDONS = [
  { request: /^@lancedb\/lancedb-[^/]+$/, name: "lancedb" },
  { request: /^@anush008\/tokenizers-[^/]+$/, name: "tokenizers" },
  { request: /onnxruntime_binding\.node$/, name: "onnxruntime" },
];

/**
 * Replaces each package's import of its native addon by the addon that `openAddon` loaded from the cache
 * folder. Bun itself would embed the file uncompressed and unpack it into the system's temporary folder.
 */
export const redirectAddons: BunPlugin = {
  name: "redirect-addons",
  setup(build) {
    for (const { request, name } of ADDONS) {
      build.onResolve({ filter: request }, () => ({ path: name, namespace: "addon" }));
    }
    const addons = JSON.stringify(join(SOURCE, "native", "addons.ts"));
    build.onLoad({ filter: /.*/, namespace: "addon" }, ({ path }) => ({
      contents: `module.exports = require(${addons}).openedAddon(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};

/** The script of the API page as gzip, as browsers receive it. */
const compressScript: BunPlugin = {
  name: "compress-script",
  setup(build) {
    build.onLoad({ filter: /[\\/]browser[\\/]standalone\.js$/ }, async ({ path }) => ({
      contents: Bun.gzipSync(await Bun.file(path).bytes(), { level: 9 }),
      loader: "file",
    }));
  },
};

/**
 * Replaces modules, by path, with generated code. Bun's own option `files` would put the path into the
 * names of chunks: the bytes would then depend on the folder of the checkout.
 */
export function generatedModules(modules: Readonly<Record<string, string>>): BunPlugin {
  return {
    name: "generated-modules",
    setup(build) {
      for (const [path, contents] of Object.entries(modules)) {
        build.onLoad({ filter: new RegExp(`^${RegExp.escape(path)}$`) }, () => ({
          contents,
          loader: "ts",
        }));
      }
    },
  };
}

/** The code that replaces `embedded.ts`. */
function embeddedModule(assets: Bundle["embedded"]): string {
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
