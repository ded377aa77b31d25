import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, setPriority, totalmem } from "node:os";
import { join } from "node:path";
import { errorCode } from "../errors.ts";

/**
 * Options that start a program which keeps running when this one ends. `windowsHide` prevents a console
 * window on Windows.
 */
export const IN_BACKGROUND = { detached: true, windowsHide: true } as const;

/** Milliseconds in which a program ends after it was told to, and its output after it has ended. */
const GRACE_MS = 500;

/**
 * Runs a program without a terminal and without input. After a time, or a number of bytes, it is ended with all
 * that it started.
 * @returns its output, then its error output; whether it ended by itself, or why it was ended; and its exit code, null
 *   for a program that was ended, also by a signal
 * @throws the error of the system when the program can't be started
 */
export async function runBriefly(
  words: readonly string[],
  { timeoutMs, maxBytes }: { timeoutMs: number; maxBytes: number },
  place: { cwd: string; env: Readonly<Record<string, string | undefined>> },
) {
  const child = Bun.spawn([...words], {
    ...place,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...IN_BACKGROUND,
  });
  const stopped = Promise.withResolvers<"timeout" | "length">();
  const timer = setTimeout(() => stopped.resolve("timeout"), timeoutMs);
  const texts = ["", ""];
  const readers = [child.stdout, child.stderr].map((stream) => stream.getReader());
  const reading = Promise.all(
    readers.map(async (reader, index) => {
      const decoder = new TextDecoder();
      let left = maxBytes;
      for (let { value } = await reader.read(); value; { value } = await reader.read()) {
        texts[index] += decoder.decode(value.subarray(0, left), { stream: true });
        left -= value.length;
        if (left < 0) return stopped.resolve("length");
      }
    }),
  );
  // What a program leaves behind may hold its output open.
  const exited = child.exited.then(() => Promise.race([reading, Bun.sleep(GRACE_MS)]));
  const end = await Promise.race([exited.then(() => "exit" as const), stopped.promise]);
  clearTimeout(timer);
  if (end !== "exit") {
    signalGroup(child.pid, "SIGTERM");
    await Promise.race([child.exited, Bun.sleep(GRACE_MS)]);
    signalGroup(child.pid, "SIGKILL");
  }
  for (const reader of readers) await reader.cancel();
  return { text: texts.join("\n"), end, exitCode: end === "exit" ? child.exitCode : null };
}

/** Signals a process that was started in the background, and those that it started. */
function signalGroup(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    // Windows has no groups of processes.
    process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    if (errorCode(error) !== "ESRCH") throw error;
  }
}

/** Whether a process with this id exists, also one of another user. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

/** The number of files and connections that this process has open; NaN on systems other than Linux. */
export function countOpenFiles(): number {
  try {
    return process.platform === "linux" ? readdirSync("/proc/self/fd").length : Number.NaN;
  } catch {
    return Number.NaN;
  }
}

/** The id of a process's parent; 0 when unknown, and on systems other than Linux. */
export function parentOf(pid: number): number {
  // "PID (NAME) STATE PPID …", where the name may contain any character.
  return Number(read(`/proc/${pid}/stat`).split(") ").at(-1)?.split(" ")[1] ?? 0);
}

/** The command line of a process; empty when unknown. */
export function titleOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`);
}

/**
 * The cores and the bytes of memory that this process may use: those of the machine, or fewer in a container (Linux,
 * "Control Group v2": cpu.max, memory.max).
 */
export function readResources(root = "/sys/fs/cgroup"): { cores: number; memory: number } {
  const own = /^0::(.*)$/m.exec(read("/proc/self/cgroup"))?.[1] ?? "/";
  // A limit of any group above counts, too.
  const names = own.split("/").filter(Boolean);
  const limits = ["", ...names].flatMap((_, depth) => {
    const folder = join(root, ...names.slice(0, depth));
    const [quota, period] = read(join(folder, "cpu.max")).trim().split(" ").map(Number);
    const memory = Number.parseInt(read(join(folder, "memory.max")), 10);
    return { cores: (quota ?? 0) / (period ?? 0), memory };
  });
  const least = (values: number[]) => Math.min(...values.filter((value) => value > 0));
  return {
    cores: least([availableParallelism(), ...limits.map(({ cores }) => cores)]),
    memory: least([totalmem(), ...limits.map(({ memory }) => memory)]),
  };
}

/**
 * Lets other threads go before this one, which can't be taken back (Linux, setpriority(2)). Elsewhere it would be the whole
 * process.
 * @param nice 0 to 19: with 5 a busy thread gets a third of the time of a usual one, with 10 a tenth
 */
export function lowerThreadPriority(nice: number): void {
  if (process.platform === "linux") setPriority(nice);
}

function read(path: string): string {
  try {
    return process.platform === "linux" ? readFileSync(path, "utf8") : "";
  } catch {
    return "";
  }
}

/**
 * Signals that stop a server. On Unix SIGHUP is not among them, so that nohup works. Windows has no
 * signals, but Bun translates two console events: Ctrl-Break to SIGBREAK, and closing the window to
 * SIGHUP, after which the program has a few seconds.
 */
export const STOP_SIGNALS: readonly StopSignal[] =
  process.platform === "win32"
    ? ["SIGINT", "SIGTERM", "SIGBREAK", "SIGHUP"]
    : ["SIGINT", "SIGTERM"];
export type StopSignal = "SIGINT" | "SIGTERM" | "SIGBREAK" | "SIGHUP";

/** Whether SIGHUP makes a server read its files again, as is usual for services on Unix. */
export const HAS_RELOAD_SIGNAL = process.platform !== "win32";
