import type { InstallMethod } from "./installation.ts";

/** How a person gets another version, as words for a person. */
export interface Advice {
  /** How the program was installed: after "installed". */
  readonly how: string;
  /** What is typed; null where there is nothing to type. */
  readonly command: string | null;
  /** What else is good to know. */
  readonly note: string | null;
}

interface Facts {
  readonly executable: string;
  /** What a person types in the place of `ctxd`. */
  readonly program: string;
  readonly repository: string | null;
  /** As packages have the processor's name: amd64, arm64. */
  readonly cpu: "amd64" | "arm64";
}

/** What is done to upgrade a program that was installed in this way. */
export function adviceFor(way: InstallMethod, facts: Facts): Advice {
  const { repository, program, cpu } = facts;
  const releases = repository ? `${repository}/releases/latest` : "the page of its releases";
  switch (way) {
    case "checkout":
      return {
        how: "as a checkout of the source",
        command: "git pull",
        note: "Then start it again.",
      };
    case "npm":
      return { how: "by npm", ...byNpm(facts.executable) };
    case "image":
      return {
        how: "as a container image",
        command: repository ? `docker pull ${imageOf(repository)}` : null,
        note: "Then start the container anew from the newer image, with the same volume.",
      };
    case "deb":
      return {
        how: "by the Debian package",
        command: `sudo apt install ./ctxd_VERSION_${cpu}.deb`,
        note: `Download the package first, from ${releases}.`,
      };
    case "homebrew":
      return { how: "by Homebrew", command: "brew upgrade ctxd", note: null };
    case "winget":
      return { how: "by winget", command: "winget upgrade ctxd", note: null };
    case "mcpb":
      return {
        how: "as a desktop extension",
        command: null,
        note: `Download the newer .mcpb from ${releases} and open it with the app that has the extension.`,
      };
    case "install.sh":
      return { how: "by the install script", command: `${program} upgrade --install`, note: null };
    case "file":
      return {
        how: "as a file that somebody put there",
        command: `${program} upgrade --install`,
        note: null,
      };
  }
}

/** Whether `--install` replaces the program; elsewhere another program keeps account of its files. */
export function canReplaceItself(way: InstallMethod): boolean {
  return way === "install.sh" || way === "file";
}

/** The image that a release publishes; such names have no capital letters. */
function imageOf(repository: string): string {
  return `ghcr.io${new URL(repository).pathname.toLowerCase()}:latest`;
}

/** By the folder in which each package manager keeps what it has installed for all folders. */
function byNpm(executable: string): Omit<Advice, "how"> {
  const path = executable.replaceAll("\\", "/");
  const typed = (command: string, note: string | null = null) => ({ command, note });
  if (path.includes("/_npx/")) return typed("npx -y ctxd@latest");
  if (path.includes("/.bun/install/global/")) return typed("bun add --global ctxd@latest");
  if (path.includes("/pnpm/global/")) return typed("pnpm add --global ctxd@latest");
  if (path.includes("/yarn/global/")) return typed("yarn global add ctxd@latest");
  if (/\/lib\/node_modules\/|\/npm\/node_modules\//.test(path)) {
    return typed("npm install --global ctxd@latest");
  }
  const end = path.indexOf("/node_modules/");
  if (end < 0) return typed("npm install --global ctxd@latest");
  return typed("npm install ctxd@latest", `In the folder ${executable.slice(0, end)}.`);
}
