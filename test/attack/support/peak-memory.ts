import { readFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../../support/command-line.ts";
import { temporaryFolder } from "../../support/database.ts";

/** Only Linux says how much memory a process has had at most. */
export const hasPeaks = process.platform === "linux";
/** Milliseconds after which a command counts as one that never ends. */
const PATIENCE = 15_000;

/** Most megabytes of memory so far, from a process's `status` (proc_pid_status(5)). */
export function peakIn(status: string): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1_024;
}

/** Runs `ctxd`, and tells the most megabytes of memory that it has had. A command that does not end is killed. */
export async function ctxdWithPeak(
  args: readonly string[],
  { dataDir, env = {} }: { dataDir: string; env?: Record<string, string> },
) {
  const report = join(temporaryFolder(), "status");
  const [bun = "", ...rest] = commandLine(args, { dataDir });
  const preload = join(import.meta.dir, "report-peak.ts");
  const child = Bun.spawn([bun, "--preload", preload, ...rest], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: PATIENCE,
    killSignal: "SIGKILL",
    env: { HOME: "/nonexistent", PEAK_REPORT: report, ...env },
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  const peak = exitCode > 1 ? Number.POSITIVE_INFINITY : peakIn(readFileSync(report, "utf8"));
  return { stdout, stderr, exitCode, peak };
}
