import { expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectOfFolder } from "../../src/capture/project.ts";
import { temporaryFolder } from "../support/database.ts";

/** Runs git without anybody's settings. */
function git(folder: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", ...args], {
    cwd: folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: "/nonexistent",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_COUNT: "3",
      GIT_CONFIG_KEY_0: "user.name",
      GIT_CONFIG_VALUE_0: "Sam",
      GIT_CONFIG_KEY_1: "user.email",
      GIT_CONFIG_VALUE_1: "sam@example.com",
      GIT_CONFIG_KEY_2: "protocol.file.allow",
      GIT_CONFIG_VALUE_2: "always",
    },
  });
  if (exitCode !== 0) throw new Error(stderr.toString());
}

/** A repository in a new folder. */
function repository(origin?: string): string {
  const folder = temporaryFolder();
  git(folder, "init", "--quiet");
  if (origin !== undefined) git(folder, "remote", "add", "origin", origin);
  return folder;
}

test.each([
  ["https://github.com/acme/atlas.git", "acme/atlas"],
  ["https://github.com/acme/atlas", "acme/atlas"],
  ["https://sam:secret@git.example.com:8443/acme/atlas/", "acme/atlas"],
  ["git@github.com:acme/atlas.git", "acme/atlas"],
  ["github-work:acme/atlas", "acme/atlas"],
  ["ssh://git@git.example.com:2222/acme/atlas.git", "acme/atlas"],
  ["https://gitlab.com/acme/tools/atlas.git", "acme/tools/atlas"],
  ["https://dev.azure.com/acme/web/_git/atlas", "acme/web/atlas"],
  ["git@ssh.dev.azure.com:v3/acme/web/atlas", "acme/web/atlas"],
  ["https://github.com/acme/.github", "acme/.github"],
  ["/srv/git/atlas.git", "atlas"],
  ["file:///srv/git/atlas.git", "atlas"],
  ["../atlas", "atlas"],
])("a repository with the origin %s is the project %s", async (origin, project) => {
  expect(await projectOfFolder(repository(origin))).toBe(project);
});

test.each(["config", "commondir"])(
  "a repository whose %s never ends is named after its folder",
  (file) => {
    const folder = repository();
    const path = join(folder, ".git", file);
    rmSync(path, { force: true });
    Bun.spawnSync(["mkfifo", path]);
    // In a separate process, since reading this file never ends.
    const code = `import { projectOfFolder } from "${import.meta.dir}/../../src/capture/project.ts"; console.log(await projectOfFolder(process.argv[1]));`;
    const { stdout } = Bun.spawnSync([process.execPath, "-e", code, folder], { timeout: 20_000 });
    expect(stdout.toString().trim()).toBe(basename(folder));
  },
);

test("a folder in a repository has the project of origin, whatever other remotes exist", async () => {
  const folder = repository();
  git(folder, "remote", "add", "fork", "https://github.com/sam/atlas");
  git(folder, "remote", "add", "origin", "https://github.com/acme/atlas");
  git(folder, "remote", "add", "other", "https://github.com/bob/atlas");
  const deep = join(folder, "src", "deep");
  mkdirSync(deep, { recursive: true });
  expect(await projectOfFolder(deep)).toBe("acme/atlas");
});

test("without an origin, a repository's project is the name of its folder", async () => {
  const folder = repository();
  git(folder, "remote", "add", "fork", "https://github.com/sam/atlas");
  mkdirSync(join(folder, "src"));
  expect(await projectOfFolder(join(folder, "src"))).toBe(basename(folder));
});

test("a worktree has the same project as its repository, with and without an origin", async () => {
  const folder = repository();
  git(folder, "commit", "--quiet", "--allow-empty", "-m", "first");
  const worktree = join(temporaryFolder(), "elsewhere");
  git(folder, "worktree", "add", "--quiet", worktree);
  expect(await projectOfFolder(worktree)).toBe(basename(folder));
  git(folder, "remote", "add", "origin", "git@github.com:acme/atlas.git");
  expect(await projectOfFolder(worktree)).toBe("acme/atlas");
});

test("a submodule is a project of its own", async () => {
  const part = repository();
  git(part, "commit", "--quiet", "--allow-empty", "-m", "first");
  const whole = repository("https://github.com/acme/whole");
  git(whole, "submodule", "--quiet", "add", part, "part");
  expect(await projectOfFolder(join(whole, "part"))).toBe(basename(part));
  expect(await projectOfFolder(whole)).toBe("acme/whole");
});

test("a folder outside any repository has no project", async () => {
  const folder = temporaryFolder();
  expect(await projectOfFolder(folder)).toBeNull();
  mkdirSync(join(folder, ".git"));
  expect(await projectOfFolder(folder)).toBeNull();
  const other = temporaryFolder();
  writeFileSync(join(other, ".git"), "gitdir: /nonexistent\n");
  expect(await projectOfFolder(other)).toBeNull();
});
