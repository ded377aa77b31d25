import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** The ways in which ctxd can be installed. */
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

/** Facts from which the method of installation is derived. */
export interface Traces {
  readonly isCheckout: boolean;
  /** Path of the program, with links resolved. */
  readonly executable: string;
  /** CTXD_INSTALLED_BY, which launchers set. */
  readonly mark: string | undefined;
  readonly home: string | null;
  /** The text of a file; null when there is none. */
  read(path: string): string | null;
  /** A path with links resolved; unchanged when nothing is there. */
  real(path: string): string;
}

/** Values of CTXD_INSTALLED_BY that name a method. */
const MARKS: readonly InstallMethod[] = ["npm", "image", "mcpb"];

/** dpkg's list of the files in the package. */
const PACKAGE_FILES = "/var/lib/dpkg/info/ctxd.list";

/** Derives how this program was installed. An executable in an unknown place is a `file`. */
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
  // A service, for example, may start the package's executable without the launcher.
  if (path.includes("/node_modules/@ctxd/")) return "npm";
  if (path.includes("/Cellar/")) return "homebrew";
  if (/\/WinGet\//i.test(path)) return "winget";
  if (path === "/usr/bin/ctxd" && read(PACKAGE_FILES) !== null) return "deb";
  const installed = home && pathIn(read(join(home, ...SCRIPT_NOTE)));
  return installed && real(installed) === executable ? "install.sh" : "file";
}

/** The file in which the install script records the path that it installed. */
const SCRIPT_NOTE = [".local", "share", "ctxd-install", "ctxd.install.json"];

function pathIn(note: string | null): string | null {
  try {
    const { path } = JSON.parse(note ?? "{}");
    return typeof path === "string" ? path : null;
  } catch {
    return null;
  }
}

/** The traces of this running program. */
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
