import { win32 } from "node:path";
import { withTimeLimit } from "../timing/time-limit.ts";
import type { Environment } from "./folders.ts";
import { IN_BACKGROUND } from "./processes.ts";

/** Time within which the program that opens a browser reports a failure. */
const FAILURE_TIMEOUT_MS = 1_000;

/**
 * Opens an address or a page in the person's browser.
 * @param target an address, or the path of a page
 * @returns whether a browser opened, as far as the system reports
 */
export async function openInBrowser(target: string, env: Environment): Promise<boolean> {
  const command = browserCommand(target, env);
  const [name = ""] = command ?? [];
  const program = Bun.which(name, { PATH: env.PATH ?? "" });
  if (!command || !program) return false;
  const child = startWithUsualMask([program, ...command.slice(1)], env);
  // Some openers run as long as the browser.
  child.unref();
  return withTimeLimit(
    child.exited.then((code) => code === 0),
    FAILURE_TIMEOUT_MS,
    () => true,
  );
}

/** The command that opens something in the browser; null without a screen. */
export function browserCommand(
  target: string,
  env: Environment,
  platform: string = process.platform,
): readonly string[] | null {
  if (platform === "darwin") return ["open", target];
  if (platform === "win32") {
    // `start` would need cmd.exe, which interprets an & in the address.
    const system = win32.join(env.SystemRoot ?? "C:\\Windows", "System32");
    return [win32.join(system, "rundll32.exe"), "url.dll,FileProtocolHandler", target];
  }
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open", target] : null;
}

/** Starts a program with the usual umask, so that a browser's downloads do not become private files. */
function startWithUsualMask(command: string[], env: Environment) {
  const own = process.umask(0o022);
  try {
    return Bun.spawn(command, {
      env: { ...env },
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
      ...IN_BACKGROUND,
    });
  } finally {
    process.umask(own);
  }
}
