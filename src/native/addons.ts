import { dirname } from "node:path";
import { explainLoadError } from "./asset-error.ts";

const opened = new Map<string, unknown>();

/**
 * Loads a native addon that was unpacked from the executable. The package of the addon then finds it by
 * `name`: `bun run build` makes the package call `openedAddon`.
 * @throws AssetError when the system does not load it
 */
export function openAddon(name: string, path: string): void {
  if (opened.has(name)) return;
  const module = { exports: {} };
  try {
    process.dlopen(module, path);
  } catch (error) {
    throw explainLoadError(error, dirname(path));
  }
  opened.set(name, module.exports);
}

/** The exports of an addon that `openAddon` loaded. */
export function openedAddon(name: string): unknown {
  const exports = opened.get(name);
  if (exports === undefined) throw new Error(`The native addon ${name} was not opened.`);
  return exports;
}
