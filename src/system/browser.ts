import { win32 } from "node:path";
import { withTimeLimit } from "../time-limit.ts";
import { IN_BACKGROUND } from "./processes.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Milliseconds in which what opens a browser says that it can't. */
const PATIENCE = 1_000;

/**
 * Opens an address or a page in the person's browser.
 * @param target an address, or the path of a page
 * @returns whether there is one, as far as the system tells
 */
export async function openInBrowser(target: string, env: Environment): Promise<boolean> {
  const command = browserCommand(target, env);
  const [name = ""] = command ?? [];
  const program = Bun.which(name, { PATH: env.PATH ?? "" });
  if (!command || !program) return false;
  const child = startWithUsualMask([program, ...command.slice(1)], env);
  // Some stay as long as the browser does.
  child.unref();
  return withTimeLimit(
    child.exited.then((code) => code === 0),
    PATIENCE,
    () => true,
  );
}

/** The program that opens something in the browser, with its arguments; null where there is no screen. */
export function browserCommand(
  target: string,
  env: Environment,
  platform: string = process.platform,
): readonly string[] | null {
  if (platform === "darwin") return ["open", target];
  if (platform === "win32") {
    // Not `start`, which is the shell's own: it would take an & in the address for its own, too.
    const system = win32.join(env.SystemRoot ?? "C:\\Windows", "System32");
    return [win32.join(system, "rundll32.exe"), "url.dll,FileProtocolHandler", target];
  }
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ["xdg-open", target] : null;
}

/** Starts a program with the usual umask: what a browser downloads is not for its person alone. */
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
