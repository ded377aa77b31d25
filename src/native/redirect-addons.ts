import { join } from "node:path";
import type { BunPlugin } from "bun";

/** Requests for a native addon, as the packages make them, and the names that `openAddon` knows. */
const ADDONS = [
  { request: /^@lancedb\/lancedb-[^/]+$/, name: "lancedb" },
  { request: /^@anush008\/tokenizers-[^/]+$/, name: "tokenizers" },
  { request: /onnxruntime_binding\.node$/, name: "onnxruntime" },
];

/**
 * Has each package take the addon that was opened from the cache folder. Bun would embed the file
 * as it is, uncompressed, and unpack it into the system's temporary folder.
 */
export const redirectAddons: BunPlugin = {
  name: "redirect-addons",
  setup(build) {
    for (const { request, name } of ADDONS) {
      build.onResolve({ filter: request }, () => ({ path: name, namespace: "addon" }));
    }
    const addons = JSON.stringify(join(import.meta.dir, "addons.ts"));
    build.onLoad({ filter: /.*/, namespace: "addon" }, ({ path }) => ({
      contents: `module.exports = require(${addons}).openedAddon(${JSON.stringify(path)});`,
      loader: "js",
    }));
  },
};
