import { join } from "node:path";
import { installLocked } from "../support/locked-install.ts";

/**
 * Programs that are installed together, from one lock file: those of every run, those of the long run, and OpenClaw,
 * which needs a newer Node.js.
 */
export type Programs = "every-run" | "long-run" | "openclaw";

const folderOf = (programs: Programs) => join(import.meta.dir, "programs", programs);

/** Installs programs of the npm registry. Returns their `node_modules`. */
export function install(programs: Programs): Promise<string> {
  return installLocked(folderOf(programs), "agents");
}

/** The version of each package that is installed. */
export async function pinnedVersions(programs: Programs): Promise<Record<string, string>> {
  const manifest = Bun.file(join(folderOf(programs), "package.json"));
  return (await manifest.json()).dependencies;
}
