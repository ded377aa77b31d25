import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectOfFolder } from "../../src/capture/project.ts";
import { temporaryFolder } from "../support/database.ts";
import { noOtherUser } from "../support/other-user.ts";

const ORIGIN = '[remote "origin"]\n\turl = https://github.com/acme/atlas.git\n';
/** The id of `nobody`. */
const NOBODY = 65_534;

/** A folder with what this program reads of a repository. */
function repository(folder = temporaryFolder()): string {
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  writeFileSync(join(folder, ".git", "config"), ORIGIN);
  return folder;
}

test.skipIf(process.platform !== "linux").each(["config", "commondir"])(
  "a %s that leads to an endless file of the system takes neither time nor memory",
  async (name) => {
    const folder = repository();
    const path = join(folder, ".git", name);
    rmSync(path, { force: true });
    symlinkSync("/proc/self/pagemap", path);
    const before = process.memoryUsage.rss();
    const cpu = process.cpuUsage();
    const project = await projectOfFolder(folder);
    const { user, system } = process.cpuUsage(cpu);
    expect(user + system).toBeLessThan(2_000_000);
    expect(project).toBe(name === "config" ? basename(folder) : "acme/atlas");
    expect(process.memoryUsage.rss() - before).toBeLessThan(64 << 20);
  },
);

test("a pipe in the place of .git is no repository", async () => {
  const folder = temporaryFolder();
  Bun.spawnSync(["mkfifo", join(folder, ".git")]);
  expect(await projectOfFolder(folder)).toBeNull();
});

test.skipIf(noOtherUser !== null)(
  "a repository that another user planted above a folder decides no project",
  async () => {
    const shared = repository();
    chmodSync(shared, 0o1777);
    const own = join(shared, "own");
    mkdirSync(own);
    expect(await projectOfFolder(own)).toBe("acme/atlas");
    chownSync(join(shared, ".git"), NOBODY, NOBODY);
    expect(await projectOfFolder(own)).toBeNull();
    // The repository is this user's, its settings are not.
    chownSync(join(shared, ".git"), 0, 0);
    chownSync(join(shared, ".git", "config"), NOBODY, NOBODY);
    expect(await projectOfFolder(own)).toBe(basename(shared));
    chownSync(shared, NOBODY, NOBODY);
    expect(await projectOfFolder(own)).toBeNull();
  },
);

test.skipIf(noOtherUser !== null)("a .git file of another user leads nowhere", async () => {
  const target = repository();
  const folder = temporaryFolder();
  const file = join(folder, ".git");
  writeFileSync(file, `gitdir: ${join(target, ".git")}\n`);
  expect(await projectOfFolder(folder)).toBe("acme/atlas");
  chownSync(file, NOBODY, NOBODY);
  expect(await projectOfFolder(folder)).toBeNull();
});
