import { access, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { LIMITS } from "../memories/model/memory.ts";
import { homeFolder } from "../system/folders.ts";
import { isOwn } from "../system/foreign-ancestor.ts";
import { readSmallText } from "../system/regular-file.ts";
import { hasHidden } from "../text/plain-text.ts";

/** Most bytes of a git file that is read. */
const MAX_FILE_BYTES = 64 << 10;
/** Only the limit's type is imported: its module would take hooks longer to load than everything else. */
const MAX_NAME_LENGTH: typeof LIMITS.identifier = 128;

/**
 * The project of a folder: `owner/repo` of the remote `origin` of its git repository, else the name
 * of the repository's folder. Null outside a repository. This does not run git: hooks have no time
 * for that, and the configuration of a foreign folder can make git run any program.
 */
export async function projectOfFolder(folder: string): Promise<string | null> {
  const found = await findRepository(resolve(folder));
  if (found === null) return null;
  const { root, gitFolder } = found;
  // A worktree shares the configuration of its repository and belongs to the same project.
  const shared = await textOf(join(gitFolder, "commondir"));
  const common = shared === null ? gitFolder : resolve(gitFolder, shared.trim());
  const isWorktree = common !== gitFolder && basename(common) === ".git";
  const origin = originOf((await textOf(join(common, "config"))) ?? "");
  const name = (origin && nameOf(origin)) || basename(isWorktree ? dirname(common) : root);
  const isValid = name.trim() !== "" && name.length <= MAX_NAME_LENGTH && !hasHidden(name);
  return isValid ? name : null;
}

/**
 * The repository that contains a folder: its root and its git folder. As in git, it must belong to this user
 * or root (git-config(1), safe.directory), and the search ends where another file system begins: otherwise
 * another user could plant one above, such as in `/tmp`. It also ends at the home folder, whose repository
 * holds settings and is not the project of the folders below; editors start programs there.
 */
async function findRepository(folder: string): Promise<{ root: string; gitFolder: string } | null> {
  const home = homeFolder({});
  const first = await stat(folder).catch(() => null);
  for (let root = folder; root !== home; root = dirname(root)) {
    const found = await stat(root).catch(() => null);
    if (found && first && found.dev !== first.dev) return null;
    const gitFolder = await gitFolderOf(join(root, ".git"));
    if (gitFolder !== null) return found && isOwn(found.uid) ? { root, gitFolder } : null;
    if (root === dirname(root)) return null;
  }
  return null;
}

/**
 * In a worktree or a submodule, `.git` is a file with the path of the git folder (gitrepository-layout(5)).
 * An unreadable repository counts as none.
 */
async function gitFolderOf(path: string): Promise<string | null> {
  const found = await stat(path).catch(() => null);
  if (!found) return null;
  const named = found.isDirectory() ? "." : /^gitdir: (.+)$/m.exec((await textOf(path)) ?? "")?.[1];
  if (named === undefined) return null;
  const folder = found.isDirectory() ? path : resolve(dirname(path), named.trim());
  const owner = await stat(folder).catch(() => null);
  if (!owner || !isOwn(owner.uid)) return null;
  const isWhole = await access(join(folder, "HEAD")).then(
    () => true,
    () => false,
  );
  return isWhole ? folder : null;
}

function textOf(path: string): Promise<string | null> {
  return readSmallText(path, MAX_FILE_BYTES, isOwn);
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
