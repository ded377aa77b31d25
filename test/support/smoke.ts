import { rmSync } from "node:fs";

/** The settings of this process without those of ctxd. */
export function cleanEnvironment(): Record<string, string> {
  const entries = Object.entries(process.env).filter(([name]) => !name.startsWith("CTXD_"));
  return Object.fromEntries(entries) as Record<string, string>;
}

/**
 * Runs a program to its end.
 * @returns what it wrote to its standard output
 */
export async function runProgram(
  command: string[],
  options: { cwd: string; env: Record<string, string> },
): Promise<string> {
  const child = Bun.spawn(command, {
    ...options,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const exitCode = await child.exited;
  if (exitCode === 0) return output.trim();
  throw new Error(`${command.join(" ")} ended with ${exitCode}: ${errors.trim()}\n${output}`);
}

/** Does the work, removes its folder, and ends this process; it says what went wrong. */
export async function tryOut(folder: string, work: () => Promise<void>): Promise<never> {
  let exitCode = 0;
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    exitCode = 1;
  } finally {
    // Windows keeps a program's file for a moment after its end.
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
  }
  process.exit(exitCode);
}
