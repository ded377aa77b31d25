import { existsSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { LIMITS } from "../memories/memory.ts";
import { homeFolder } from "../system/folders.ts";

/** Bytes of a file of git's that is read. */
const MAX_FILE = 1 << 20;

/**
 * The project that a folder belongs to: `owner/repo` of the remote `origin` of its git repository,
 * else the name of the repository's folder. Null where there is no repository. Git itself is not
 * started: hooks have no time for it, and a folder of somebody else may tell it what to run.
 */
export function projectOfFolder(folder: string): string | null {
  const found = findRepository(resolve(folder));
  if (found === null) return null;
  const { root, gitFolder } = found;
  // A worktree shares the configuration of its repository, and is the same project.
  const shared = textOf(join(gitFolder, "commondir"));
  const common = shared === null ? gitFolder : resolve(gitFolder, shared.trim());
  const isWorktree = common !== gitFolder && basename(common) === ".git";
  const origin = originOf(textOf(join(common, "config")) ?? "");
  const name = (origin && nameOf(origin)) || basename(isWorktree ? dirname(common) : root);
  return name !== "" && name.length <= LIMITS.identifier ? name : null;
}

/**
 * The repository that a folder is in: its folder, and where git keeps what it knows of it. One of the
 * home folder keeps settings, and is not the project of all that lies below; editors also start
 * programs there.
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

/** Of a worktree or a submodule, `.git` is a file with the folder's path (gitrepository-layout(5)). */
function gitFolderOf(path: string): string | null {
  try {
    const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory();
    if (isFolder === undefined) return null;
    const named = isFolder ? "." : /^gitdir: (.+)$/m.exec(textOf(path) ?? "")?.[1];
    if (named === undefined) return null;
    const folder = isFolder ? path : resolve(dirname(path), named.trim());
    return existsSync(join(folder, "HEAD")) ? folder : null;
  } catch {
    // Who may not read it has no repository there.
    return null;
  }
}

/** Null for what is no small file: a folder of somebody else may have one that never ends. */
function textOf(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= MAX_FILE ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}

const SECTION = /^\[\s*remote\s+"origin"\s*\]/i;
const URL_LINE = /^url\s*=\s*"?([^"#;]+)/i;

/** The address of `origin` in a repository's configuration (git-config(1)); null for none. */
function originOf(config: string): string | null {
  let isOrigin = false;
  for (const line of config.split("\n").map((each) => each.trim())) {
    if (line.startsWith("[")) isOrigin = SECTION.test(line);
    const url = isOrigin ? URL_LINE.exec(line.replace(SECTION, "").trim())?.[1] : undefined;
    if (url !== undefined) return url.trim();
  }
  return null;
}

/** `https://host/path`, `ssh://git@host:22/path`, or `git@host:path`: the path (git-clone(1)). */
const ADDRESS = /^(?:(?!file:)[a-z][a-z0-9+.-]*:\/\/[^/]+\/|[^/:]+:(?!\/\/))(.+)$/i;

/** Owner and repository of an address; of a folder of this machine only its name. */
function nameOf(address: string): string {
  const remote = ADDRESS.exec(address)?.[1];
  // Azure DevOps has the same repository under paths with `_git` and with `v3` in them.
  const parts = (remote ?? address).split("/").filter((part) => !/^(|_git|v3|~)$/.test(part));
  const last = parts.at(-1)?.replace(/(?<=.)\.git$/, "") ?? "";
  return [...(remote === undefined ? [] : parts.slice(0, -1)), last].join("/");
}
