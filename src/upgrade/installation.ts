import { existsSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { parsed } from "../text/parse-json.ts";

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
export type Traces = ReturnType<typeof readInstallTraces>;

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
  const { path: installed } = Object(home && parsed(read(join(home, ...SCRIPT_NOTE)) ?? ""));
  const isInstalled = typeof installed === "string" && real(installed) === executable;
  return isInstalled ? "install.sh" : "file";
}

/** The file in which the install script records the path that it installed. */
const SCRIPT_NOTE = [".local", "share", "ctxd-install", "ctxd.install.json"];

/** The traces of this running program. @param mark CTXD_INSTALLED_BY, which launchers set */
export function readInstallTraces(mark: string | undefined, home: string | null) {
  return {
    isCheckout: !Bun.isStandaloneExecutable,
    /** Path of the program, with links resolved. */
    executable: process.execPath,
    mark,
    home,
    /** The text of a file; null when there is none. */
    read: (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : null),
    /** A path with links resolved; unchanged when nothing is there. */
    real: (path: string) => (existsSync(path) ? realpathSync(path) : path),
  };
}

/** Instructions for upgrading. */
export interface Advice {
  /** How the program was installed, to follow the word "installed". */
  readonly how: string;
  /** The command to type; null when there is none. */
  readonly command: string | null;
  readonly note: string | null;
}

interface Facts {
  readonly executable: string;
  readonly repository: string | null;
  /** The processor, as packages name it. */
  readonly cpu: "amd64" | "arm64";
}

/** How to upgrade a program that was installed by this method. */
export function adviceFor(way: InstallMethod, { executable, repository, cpu }: Facts): Advice {
  const releases = repository ? `${repository}/releases/latest` : "the page of its releases";
  const typed = (how: string, command: string | null, note: string | null = null): Advice => ({
    how,
    command,
    note,
  });
  const advice: Record<InstallMethod, Advice> = {
    checkout: typed("as a checkout of the source", "git pull", "Then start it again."),
    npm: typed("by npm", ...byNpm(executable)),
    image: typed(
      "as a container image",
      repository && `docker pull ${imageOf(repository)}`,
      "Then start a container from the newer image, with the same volume.",
    ),
    deb: typed(
      "by the Debian package",
      `sudo apt install ./ctxd_VERSION_${cpu}.deb`,
      `Download the package first, from ${releases}.`,
    ),
    homebrew: typed("by Homebrew", "brew upgrade ctxd"),
    winget: typed("by winget", "winget upgrade ctxd"),
    mcpb: typed(
      "as a desktop extension",
      null,
      `Download the newer .mcpb from ${releases} and open it with the app that has the extension.`,
    ),
    "install.sh": typed(
      "by the install script",
      repository && `curl -fsSL ${repository}/releases/latest/download/install.sh | sh`,
    ),
    file: typed(
      "as a single file",
      null,
      `Download the newer file from ${releases}, verify it as the notes there say, and put it in the place of this one.`,
    ),
  };
  return advice[way];
}

/** The image that a release publishes. Names of images are in lower case. */
function imageOf(repository: string): string {
  return `ghcr.io${new URL(repository).pathname.toLowerCase()}:latest`;
}

/** The command and a note. The folder of globally installed packages tells which package manager it was. */
function byNpm(executable: string): [command: string, note?: string] {
  const path = executable.replaceAll("\\", "/");
  if (path.includes("/_npx/")) return ["npx -y ctxd@latest"];
  if (path.includes("/.bun/install/global/")) return ["bun add --global ctxd@latest"];
  if (path.includes("/pnpm/global/")) return ["pnpm add --global ctxd@latest"];
  if (path.includes("/yarn/global/")) return ["yarn global add ctxd@latest"];
  const end = path.indexOf("/node_modules/");
  if (end < 0 || /\/(lib|npm)\/node_modules\//.test(path)) {
    return ["npm install --global ctxd@latest"];
  }
  return ["npm install ctxd@latest", `In the folder ${executable.slice(0, end)}.`];
}
