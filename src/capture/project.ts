import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { LIMITS } from "../memories/memory.ts";
import { homeFolder } from "../system/folders.ts";

/** Most bytes of a git file that is read. */
const MAX_FILE_BYTES = 1 << 20;

/**
 * The project of a folder: `owner/repo` of the remote `origin` of its git repository, else the name
 * of the repository's folder. Null outside a repository. This does not run git: hooks have no time
 * for that, and the configuration of a foreign folder can make git run any program.
 */
export function projectOfFolder(folder: string): string | null {
  const found = findRepository(resolve(folder));
  if (found === null) return null;
  const { root, gitFolder } = found;
  // A worktree shares the configuration of its repository and belongs to the same project.
  const shared = textOf(join(gitFolder, "commondir"));
  const common = shared === null ? gitFolder : resolve(gitFolder, shared.trim());
  const isWorktree = common !== gitFolder && basename(common) === ".git";
  const origin = originOf(textOf(join(common, "config")) ?? "");
  const name = (origin && nameOf(origin)) || basename(isWorktree ? dirname(common) : root);
  return name !== "" && name.length <= LIMITS.identifier ? name : null;
}

/**
 * The repository that contains a folder: its root and its git folder. A repository in the home folder
 * is ignored: it holds settings and is not the project of the folders below, and editors start
 * programs in the home folder.
 */
function findRepository(folder: string): { root: string; gitFolder: string } | null {
  const home = homeFolder({});
  for (let root = folder; root !== home; root = dirname(root)) {
    const gitFolder = gitFolderOf(join(root, ".git"));
    if (gitFolder !== null) return { root, gitFolder };
    if (root === dirname(root)) return null;
  }
  return null;
}

/** In a worktree or a submodule, `.git` is a file with the path of the git folder (gitrepository-layout(5)). */
function gitFolderOf(path: string): string | null {
  try {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder === undefined) return null;
    const named = isFolder ? "." : /^gitdir: (.+)$/m.exec(textOf(path) ?? "")?.[1];
    if (named === undefined) return null;
    const folder = isFolder ? path : resolve(dirname(path), named.trim());
    return existsSync(join(folder, "HEAD")) ? folder : null;
  } catch {
    // An unreadable repository counts as none.
    return null;
  }
}

/** The text of a small regular file, else null: a foreign folder may contain an endless device file. */
function textOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_FILE_BYTES ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}

const SECTION = /^\[\s*remote\s+"origin"\s*\]/i;
const URL_LINE = /^url\s*=\s*"?([^"#;]+)/i;

/** The URL of `origin` in a repository's configuration (git-config(1)); null without one. */
function originOf(config: string): string | null {
  let isOrigin = false;
  for (const line of config.split("\n").map((each) => each.trim())) {
    if (line.startsWith("[")) isOrigin = SECTION.test(line);
    const url = isOrigin ? URL_LINE.exec(line.replace(SECTION, "").trim())?.[1] : undefined;
    if (url !== undefined) return url.trim();
  }
  return null;
}

/** Matches the path of `https://host/path`, `ssh://git@host:22/path` and `git@host:path` (git-clone(1)). */
const REMOTE_PATH = /^(?:(?!file:)[a-z][a-z0-9+.-]*:\/\/[^/]+\/|[^/:]+:(?!\/\/))(.+)$/i;

/** Owner and repository of a remote URL; for a local folder only its name. */
function nameOf(url: string): string {
  const remote = REMOTE_PATH.exec(url)?.[1];
  // Azure DevOps serves the same repository under paths with `_git` and with `v3`.
  const parts = (remote ?? url).split("/").filter((part) => !/^(|_git|v3|~)$/.test(part));
  const last = parts.at(-1)?.replace(/(?<=.)\.git$/, "") ?? "";
  return [...(remote === undefined ? [] : parts.slice(0, -1)), last].join("/");
}
