import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** The ways in which the program comes to a machine. */
export type InstallMethod =
  | "checkout"
  | "npm"
  | "image"
  | "deb"
  | "homebrew"
  | "winget"
  | "mcpb"
  | "install.sh"
  | "file";

/** What tells how the program was installed. */
export interface Traces {
  readonly isCheckout: boolean;
  /** Path of the program, without links. */
  readonly executable: string;
  /** What started it says so by CTXD_INSTALLED_BY. */
  readonly mark: string | undefined;
  readonly home: string | null;
  /** The text of a file; null where there is none. */
  read(path: string): string | null;
  /** A path without links; as it is, where there is nothing. */
  real(path: string): string;
}

/** What launchers say of themselves. */
const MARKS: readonly InstallMethod[] = ["npm", "image", "mcpb"];

/** Where dpkg keeps the files of the package. */
const PACKAGE_FILES = "/var/lib/dpkg/info/ctxd.list";

/** How this program was installed. A program in no known place is a file that somebody put there. */
export function findInstallMethod({
  isCheckout,
  executable,
  mark,
  home,
  read,
  real,
}: Traces): InstallMethod {
  if (isCheckout) return "checkout";
  const marked = MARKS.find((way) => way === mark);
  if (marked) return marked;
  const path = executable.replaceAll("\\", "/");
  // The package with the executable can also be started without its launcher, by a service say.
  if (path.includes("/node_modules/@ctxd/")) return "npm";
  if (path.includes("/Cellar/")) return "homebrew";
  if (/\/WinGet\//i.test(path)) return "winget";
  if (path === "/usr/bin/ctxd" && read(PACKAGE_FILES) !== null) return "deb";
  const installed = home && pathIn(read(join(home, ...SCRIPT_NOTE)));
  return installed && real(installed) === executable ? "install.sh" : "file";
}

/** Where the install script notes what it has installed, and with which path. */
const SCRIPT_NOTE = [".local", "share", "ctxd-install", "ctxd.install.json"];

function pathIn(note: string | null): string | null {
  try {
    const { path } = JSON.parse(note ?? "{}");
    return typeof path === "string" ? path : null;
  } catch {
    return null;
  }
}

/** The traces of the program that runs. */
export function readInstallTraces(mark: string | undefined, home: string | null): Traces {
  return {
    isCheckout: !Bun.isStandaloneExecutable,
    executable: process.execPath,
    mark,
    home,
    read: (path) => (existsSync(path) ? readFileSync(path, "utf8") : null),
    real: (path) => (existsSync(path) ? realpathSync(path) : path),
  };
}
