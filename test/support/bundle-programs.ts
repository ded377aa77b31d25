import { existsSync } from "node:fs";
import { readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type BunPlugin, Glob } from "bun";

/**
 * Bundles programs of the checkout, given as arguments, and prints the folder of the bundles. A start then takes
 * a third less processor time: no modules have to be found and transpiled. The name of the folder is the hash
 * of all sources, so that a bundle always has the code of the checkout.
 */
const ROOT = join(import.meta.dir, "..", "..");
const CACHE = join(ROOT, "node_modules", ".cache", "ctxd-test");
const NAME = "servers-";
const SOURCES = ["src/**/*", "test/**/*.ts", "package.json", "bun.lock", "tsconfig.json"];
/** Milliseconds after which no running test uses a bundle of other sources any more. */
const OUTDATED_AFTER_MS = 24 * 3_600_000;

const programs = process.argv.slice(2);
const folder = join(CACHE, `${NAME}${await hashOfSources()}`);
const MAIN = join(folder, "src", "main.js");

async function hashOfSources(): Promise<string> {
  const hash = new Bun.CryptoHasher("sha256").update([Bun.version, ...programs].join());
  const paths = SOURCES.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)]);
  for (const path of paths.filter((path) => !path.includes("node_modules")).sort()) {
    hash.update(`\0${path}\0`).update(await Bun.file(join(ROOT, path)).bytes());
  }
  return hash.digest("hex").slice(0, 16);
}

async function bundle(): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: programs.map((program) => join(ROOT, program)),
    root: ROOT,
    // Bundles find their assets from any working directory.
    publicPath: `${folder}/`,
    target: "bun",
    splitting: true,
    // As in the executable: less to parse at each start, and the names in messages stay.
    minify: { whitespace: true, syntax: true },
    external: ["@lancedb/lancedb-*", "@anush008/tokenizers-*"],
    plugins: [placesOfSources, addonByPath],
  });
  // Several processes may do this at once, and each must see whole folders only.
  const unfinished = `${folder}-${process.pid}`;
  for (const output of outputs) await Bun.write(join(unfinished, output.path), output);
  await rename(unfinished, folder).catch(() => rm(unfinished, { recursive: true }));
}

/** Modules of the checkout find files as if they were not bundled. */
const placesOfSources: BunPlugin = {
  name: "places-of-sources",
  setup(build) {
    const ours = new RegExp(`^${RegExp.escape(ROOT)}/(src|test)/.*\\.tsx?$`);
    build.onLoad({ filter: ours }, async ({ path }) => {
      const text = await Bun.file(path).text();
      const contents = text
        .replaceAll("import.meta.dir", JSON.stringify(dirname(path)))
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        // What they start in the background is bundled too.
        .replaceAll("[...ownCommand,", `[...ownCommand.slice(0, -1), ${JSON.stringify(MAIN)},`);
      return { contents, loader: path.endsWith("x") ? "tsx" : "ts" };
    });
  },
};

/** ONNX Runtime requires its addon by a path relative to its own module. */
const addonByPath: BunPlugin = {
  name: "addon-by-path",
  setup(build) {
    build.onResolve({ filter: /\.node$/ }, ({ path, importer }) => ({
      path: join(dirname(importer), path),
      external: true,
    }));
  },
};

async function removeOutdated(): Promise<void> {
  for (const name of await readdir(CACHE)) {
    const path = join(CACHE, name);
    if (!name.startsWith(NAME) || path === folder) continue;
    // Another process may remove it at the same time.
    const found = await stat(path).catch(() => null);
    if (found && Date.now() - found.mtimeMs > OUTDATED_AFTER_MS)
      await rm(path, { recursive: true, force: true });
  }
}

if (!existsSync(folder)) {
  await bundle();
  await removeOutdated();
}
process.stdout.write(folder);
