import { join } from "node:path";
import { ownCommand } from "../../src/server/invocation.ts";
import { fileOf } from "./bundles.ts";

const SOURCE = join(import.meta.dir, "..", "..", "src", "main.ts");

export interface Outcome {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number;
}

export interface Surroundings {
  /** The data folder; the program's own default when left out. */
  readonly dataDir?: string;
  /** What standard input holds; nothing by default. */
  readonly input?: string | Uint8Array<ArrayBuffer>;
  /** The folder in which it runs; the root of the checkout by default. */
  readonly cwd?: string;
  readonly env?: Record<string, string>;
  /** Whether another user runs it, who can't read the bundle: then it runs from the sources. */
  readonly isOtherUser?: boolean;
}

/** The command line that runs `ctxd`, for `Bun.spawn`. */
export function commandLine(
  args: readonly string[],
  { dataDir, cwd, isOtherUser = false }: Surroundings,
): string[] {
  const location = dataDir === undefined ? [] : ["--data-dir", dataDir];
  const program = isOtherUser ? SOURCE : fileOf("src/main.ts");
  // In another folder Bun is told the settings of the checkout, as by what `connect` writes.
  const flags = cwd === undefined ? [] : ownCommand.slice(1, -1);
  return [process.execPath, ...flags, program, ...args, ...location];
}

/** Runs `ctxd` as a process of its own, without the environment of the tests. */
export async function ctxd(args: readonly string[], surroundings: Surroundings = {}) {
  const child = Bun.spawn(commandLine(args, surroundings), {
    ...(surroundings.cwd !== undefined && { cwd: surroundings.cwd }),
    stdin: new Blob([surroundings.input ?? ""]),
    stdout: "pipe",
    stderr: "pipe",
    env: { HOME: "/nonexistent", ...surroundings.env },
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  return { stdout, stderr, exitCode } satisfies Outcome;
}

/**
 * Runs `ctxd` in a terminal and types: each step waits for a text on the screen, then types an
 * answer. Gives all that the screen showed.
 */
export async function ctxdInTerminal(
  args: readonly string[],
  steps: readonly (readonly [shown: string, typed: string])[],
  surroundings: Surroundings = {},
): Promise<{ screen: string; exitCode: number }> {
  let screen = "";
  let unread = 0;
  const waiting = [...steps];
  const decoder = new TextDecoder();
  const child = Bun.spawn(commandLine(args, surroundings), {
    env: { HOME: "/nonexistent", TERM: "xterm", ...surroundings.env },
    terminal: {
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        const [step] = waiting;
        const at = step ? screen.indexOf(step[0], unread) : -1;
        if (!step || at < 0) return;
        unread = at + step[0].length;
        waiting.shift();
        terminal.write(step[1]);
      },
    },
  });
  const exitCode = await child.exited;
  child.terminal?.close();
  return { screen, exitCode };
}
