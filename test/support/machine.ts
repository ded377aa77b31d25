import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ctxd } from "./command-line.ts";
import { temporaryFolder } from "./database.ts";

/**
 * Another machine than the server's: a home folder in which Claude Code and Codex have run, and functions that act as a
 * person or an agent there.
 */
export function newMachine(more: Record<string, string> = {}) {
  const home = temporaryFolder();
  for (const folder of [".claude", ".codex"]) mkdirSync(join(home, folder));
  const dataDir = join(home, "data");
  const env: Record<string, string> = { HOME: home, ...more };
  const run = (words: readonly string[], input = "") => ctxd(words, { dataDir, env, input });
  return {
    home,
    dataDir,
    env,
    run,

    /** Runs a hook like an agent, with JSON on standard input. */
    hook: (words: readonly string[], input: unknown) => run(words, JSON.stringify(input)),

    connect: (agent: string, origin: string, key: string, ...options: string[]) =>
      run(["connect", agent, "--url", origin, "--key", "--yes", ...options], `${key}\n`),

    /** A new repository. */
    repository(name: string): string {
      const folder = join(home, name);
      mkdirSync(join(folder, ".git"), { recursive: true });
      writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
      return folder;
    },

    /** What is kept for a server. */
    kept: (origin: string, ...names: string[]) =>
      join(dataDir, "servers", encodeURIComponent(origin), ...names),
  };
}
export type Machine = ReturnType<typeof newMachine>;
