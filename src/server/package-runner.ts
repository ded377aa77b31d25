import { startingScript } from "../system/shell.ts";

/**
 * Programs that run a package's command without installing it: the folder of their cache, the command that
 * a user types, and the command that starts a cached package without questions and without the network.
 */
const RUNNERS = [
  { folder: /[\\/]_npx[\\/]/, typed: ["npx"], started: ["npx", "-y", "--prefer-offline"] },
  { folder: /[\\/]bunx-[^\\/]+[\\/]/, typed: ["bunx"], started: ["bunx"] },
  { folder: /[\\/]xfs-[^\\/]+[\\/]dlx-/, typed: ["yarn", "dlx"], started: ["yarn", "dlx", "-q"] },
  { folder: /[\\/]dlx(-\d+)?[\\/]/, typed: ["pnpm", "dlx"], started: ["pnpm", "dlx"] },
] as const;
const PACKAGE = "ctxd";

/** The commands that start a program which npx or a similar tool keeps in its cache. */
export interface PackageRunner {
  /** The command that a user types. */
  readonly typed: readonly string[];
  /** The command that another program runs. */
  readonly started: readonly string[];
}

/**
 * Finds the package runner of a program in the cache of npx or a similar tool. The cache may be emptied at any
 * time, so the program's own path must not be written into settings.
 * @param program the program's path
 * @returns null for an installed program
 */
export function packageRunnerOf(program: string, platform?: string): PackageRunner | null {
  const runner = RUNNERS.find(({ folder }) => folder.test(program));
  if (runner === undefined) return null;
  return {
    typed: [...runner.typed, PACKAGE],
    started: startingScript([...runner.started, PACKAGE], platform),
  };
}
