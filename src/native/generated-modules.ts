import type { BunPlugin } from "bun";

/**
 * Puts code that the build generates in the place of modules, by their paths. Bun's own option for
 * that, `files`, takes the path into the names of what it bundles: each folder would build other bytes.
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
