import { startingScript } from "../system/shell.ts";

/**
 * Programs that run a package's command without installing it, by the folders that they keep it in, and
 * what of their words starts it without asking anything, or anybody, where it is kept already.
 */
const RUNNERS = [
  { folder: /[\\/]_npx[\\/]/, typed: ["npx"], started: ["npx", "-y", "--prefer-offline"] },
  { folder: /[\\/]bunx-[^\\/]+[\\/]/, typed: ["bunx"], started: ["bunx"] },
  { folder: /[\\/]xfs-[^\\/]+[\\/]dlx-/, typed: ["yarn", "dlx"], started: ["yarn", "dlx", "-q"] },
  { folder: /[\\/]dlx(-\d+)?[\\/]/, typed: ["pnpm", "dlx"], started: ["pnpm", "dlx"] },
] as const;
const PACKAGE = "ctxd";

/** How a program is started that npx or the like keeps in a cache. */
export interface PackageRunner {
  /** What a person types in the place of `ctxd`. */
  readonly typed: readonly string[];
  /** What another program runs in its place. */
  readonly started: readonly string[];
}

/**
 * What runs the program, if it is in the cache of npx or the like, from which it may go at any time: its
 * own path belongs into no settings then. Null for one that is installed.
 * @param program its path
 */
export function packageRunnerOf(program: string, platform?: string): PackageRunner | null {
  const runner = RUNNERS.find(({ folder }) => folder.test(program));
  if (runner === undefined) return null;
  return {
    typed: [...runner.typed, PACKAGE],
    started: startingScript([...runner.started, PACKAGE], platform),
  };
}
