import { join } from "node:path";

const SOURCE = join(import.meta.dir, "..");

/** Loaded by their paths, in threads of their own: nothing imports them. */
const WORKERS = ["embedding/worker.ts", "import/reader-worker.ts", "memories/map/map-worker.ts"];

/** What an executable is bundled from. @param main the program itself */
export function entryPoints(main = join(SOURCE, "main.ts")): string[] {
  return [main, ...WORKERS.map((path) => join(SOURCE, path))];
}
