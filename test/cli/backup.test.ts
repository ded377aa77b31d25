import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serveImpatiently } from "../crash/impatient-server.ts";
import { createClient } from "../support/client.ts";
import { commandLine, ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { addAccountTo, spawnServer, untilFlushed } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const env = { CTXD_CACHE_DIR: testCacheDir };
const backUp = (dataDir: string, folder: string) => ctxd(["backup", folder], { dataDir, env });
const restore = (folder: string, dataDir: string) => ctxd(["restore", folder], { dataDir, env });

let template: string;
let key: string;

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  ({ key } = await addAccountTo(template));
  await using server = await serveImpatiently(template);
  const words = (number: number) => Array.from({ length: 40 }, (_, n) => `cat-${number * n}`);
  // Long enough for tables that do not fit on a small disk.
  await createClient(server.origin, key).saveAll(
    Array.from({ length: 256 }, (_, number) => ({ content: `Memory of ${words(number)}.` })),
  );
  await untilFlushed(template);
}, 120_000);
afterAll(() => rmSync(template, { recursive: true }));

/** A data folder with one account and 256 memories. No server uses it. */
function createData() {
  const root = temporaryFolder();
  const dataDir = join(root, "data");
  cpSync(template, dataDir, { recursive: true });
  return { root, dataDir };
}

test.each([
  { encrypt: ["--encrypt", "--encrypt", "age1recipient"] },
  { encrypt: ["--encrypt", "age1recipient", "--encrypt"] },
])("a backup is encrypted to recipients or with a passphrase: $encrypt", async ({ encrypt }) => {
  const folder = join(temporaryFolder(), "backup");
  const args = ["backup", folder, ...encrypt];
  const { stderr, exitCode } = await ctxd(args, { dataDir: template, env });
  expect({ stderr, exitCode }).toEqual({
    stderr: "ctxd: Encrypt a backup to recipients or with a passphrase, not with both.\n",
    exitCode: 2,
  });
  expect(existsSync(folder)).toBe(false);
});

test.skipIf(process.platform !== "linux")("a folder that can't be created is named", async () => {
  expect(await backUp(template, "/proc/backup")).toEqual({
    stdout: "",
    stderr:
      "ctxd: /proc/backup can't be written: the system allows no new files there, choose another folder.\n",
    exitCode: 1,
  });
});

/** Only root can mount a small file system. */
const testOnSmallDisk = test.skipIf(process.platform !== "linux" || process.getuid?.() !== 0);

async function onSmallDisk(size: string, work: (folder: string) => Promise<void>) {
  const folder = temporaryFolder();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  // A container may forbid mounts.
  if (mounted.exitCode !== 0) return console.warn(`not tried: ${mounted.stderr}`);
  try {
    await work(folder);
  } finally {
    Bun.spawnSync(["umount", folder]);
  }
}

test("a backup made during writes restores every memory whose save was answered", async () => {
  const root = temporaryFolder();
  const dataDir = join(root, "data");
  const { key } = await addAccountTo(dataDir);
  const answered = new Map<string, string>();
  const removed = new Set<string>();
  const contents = new Set<string>();
  let atBackup = { answered: new Map<string, string>(), removed: new Set<string>() };
  {
    await using server = await serveImpatiently(dataDir);
    const client = createClient(server.origin, key);
    let isOver = false;
    const load = [1, 2, 3].map(async (worker) => {
      for (let count = 0; !isOver; count++) {
        const content = `Worker ${worker} saw cat number ${count}.`;
        contents.add(content);
        const { id } = await client.save({ content });
        answered.set(id, content);
        await Bun.sleep(30);
        if (count % 4 !== 3) continue;
        answered.delete(id);
        await client.remove(id);
        removed.add(id);
      }
    });
    for (let round = 0; round < 3; round++) {
      const goal = answered.size + 10;
      await until("ten more memories are saved", () => answered.size >= goal);
      rmSync(join(root, "backup"), { recursive: true, force: true });
      atBackup = { answered: new Map(answered), removed: new Set(removed) };
      const { stdout, stderr, exitCode } = await backUp(dataDir, join(root, "backup"));
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
      expect(stderr).toMatch(
        /^Backed up 1 account, 1 table of memories, \d+ files? \(.+\) to .+\.\n$/,
      );
    }
    isOver = true;
    await Promise.all(load);
  }
  expect(atBackup.answered.size).toBeGreaterThan(20);

  const restored = join(root, "restored");
  const { stderr, exitCode } = await restore(join(root, "backup"), restored);
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`to ${restored}, as of `);
  expect(stderr).toContain("ctxd serve --data-dir");
  await using server = await serveImpatiently(restored);
  const client = createClient(server.origin, key);
  const found = new Map<string, string>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await client.list({ limit: 100, ...(cursor && { cursor }) });
    for (const { id, content } of page.memories) found.set(id, content);
    cursor = page.next_cursor;
  }
  for (const [id, content] of atBackup.answered) {
    // The backup may or may not contain memories that were removed since.
    if (answered.has(id)) expect(found.get(id)).toBe(content);
  }
  for (const id of atBackup.removed) expect(found.has(id)).toBe(false);
  for (const content of found.values()) expect(contents.has(content)).toBe(true);
  expect((await client.search("cat", { limit: 100 })).length).toBeGreaterThan(20);
});

test("a backup after a server was killed has the memory whose save was answered", async () => {
  const root = temporaryFolder();
  const dataDir = join(root, "data");
  const { key } = await addAccountTo(dataDir);
  const server = spawnServer(dataDir, "impatient");
  const { save } = createClient(await server.origin(), key);
  const { id } = await save({ content: "The last word." });
  await server.kill();
  expect(await backUp(dataDir, join(root, "backup"))).toMatchObject({ exitCode: 0 });
  expect(await restore(join(root, "backup"), join(root, "restored"))).toMatchObject({
    exitCode: 0,
  });
  await using restored = await serveImpatiently(join(root, "restored"));
  expect(await createClient(restored.origin, key).get(id)).toMatchObject({
    content: "The last word.",
  });
});

test("damaged backups and used data folders are refused in one line", async () => {
  const { root, dataDir } = createData();
  const folder = join(root, "backup");
  await backUp(dataDir, folder);
  const refusedWith = async (outcome: ReturnType<typeof restore>, text: string) => {
    const { stdout, stderr, exitCode } = await outcome;
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toMatch(/^ctxd: [^\n]+\n$/);
    expect(stderr).toContain(text);
  };
  await refusedWith(restore(folder, dataDir), `${dataDir} is not empty (ctxd.db)`);
  await refusedWith(backUp(dataDir, folder), `${folder} is not empty`);
  await refusedWith(backUp(dataDir, join(dataDir, "x")), "is inside the data folder");
  await refusedWith(backUp(join(root, "none"), join(root, "b")), "There is nothing to back up");
  await refusedWith(restore(root, join(root, "new")), "has no backup.json");
  {
    await using _ = await serveImpatiently(dataDir);
    rmSync(join(root, "empty"), { recursive: true, force: true });
    await refusedWith(restore(folder, dataDir), "is not empty");
  }
  writeFileSync(join(folder, "ctxd.db"), "x");
  await refusedWith(restore(folder, join(root, "new")), `${join(folder, "ctxd.db")} differs from`);
  expect(existsSync(join(root, "new"))).toBe(false);
});

test("an incomplete restore stops the server with a message of one line", async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, "restoring", "memories"), { recursive: true });
  const refused = await ctxd(["serve", "--port", "0"], { dataDir, env });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toMatch(
    /^ctxd: A restore to .* was interrupted: run ctxd restore again.*\n$/,
  );
  expect(existsSync(join(dataDir, "ctxd.db"))).toBe(false);
});

test("a restore that is killed leaves all files or none", async () => {
  const { root, dataDir } = createData();
  const folder = join(root, "backup");
  await backUp(dataDir, folder);
  const wanted = readdirSync(join(folder, "memories"), { recursive: true }).sort();
  for (let delay = 40; delay < 220; delay += 15) {
    const target = join(root, `killed-${delay}`);
    const child = Bun.spawn(commandLine(["restore", folder], { dataDir: target }), {
      stdout: "ignore",
      stderr: "ignore",
      env: { HOME: "/nonexistent" },
    });
    // Kills the restore at a different moment in each round.
    await Bun.sleep(delay);
    child.kill("SIGKILL");
    await child.exited;
    const isDone = existsSync(join(target, "ctxd.db"));
    if (!isDone) expect(await restore(folder, target)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(target, "restoring", "ctxd.db"))).toBe(false);
    const files = readdirSync(join(target, "memories"), { recursive: true });
    expect(files.sort()).toEqual(wanted);
  }
});

test.each(["SIGINT", "SIGTERM"] as const)("%s leaves no incomplete backup", async (signal) => {
  const { root, dataDir } = createData();
  const folder = join(root, "backup");
  let stopped = 0;
  for (const delay of [0, 2, 5, 10, 20, 50, 100]) {
    const child = Bun.spawn(commandLine(["backup", folder], { dataDir }), {
      stdout: "ignore",
      stderr: "ignore",
      env: { HOME: "/nonexistent", ...env },
    });
    // Stops the backup at a different moment in each round.
    await until("the backup has begun", () => existsSync(folder) || child.exitCode !== null, 1);
    await Bun.sleep(delay);
    child.kill(signal);
    await child.exited;
    const isBackup = existsSync(join(folder, "backup.json"));
    expect(existsSync(folder)).toBe(isBackup);
    if (!isBackup) stopped++;
    rmSync(folder, { recursive: true, force: true });
  }
  expect(stopped).toBeGreaterThan(0);
});

testOnSmallDisk.each([
  ["for the database", "64k"],
  ["for the tables", "256k"],
])(
  "a disk that is too small %s is reported, and the incomplete files are removed",
  async (_, size) => {
    const { root, dataDir } = createData();
    await onSmallDisk(size, async (disk) => {
      const folder = join(disk, "backup");
      const full = await backUp(dataDir, folder);
      expect(full).toMatchObject({ stdout: "", exitCode: 1 });
      expect(full.stderr).toMatch(/^ctxd: [^\n]+ disk is full[^\n]*\n$/);
      expect(readdirSync(disk)).toEqual([]);

      expect(await backUp(dataDir, join(root, "backup"))).toMatchObject({ exitCode: 0 });
      const restored = await restore(join(root, "backup"), join(disk, "data"));
      expect(restored.stderr).toMatch(/^ctxd: [^\n]+ the disk is full[^\n]*\n$/);
      expect(existsSync(join(disk, "data", "ctxd.db"))).toBe(false);
      expect(existsSync(join(disk, "data", "restoring"))).toBe(false);
    });
  },
);

test("backing up does not change the data, and restoring does not change the backup", async () => {
  const { root, dataDir } = createData();
  const modificationTimes = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: "utf8" })
      .sort()
      .map((name) => [name, statSync(join(folder, name)).mtimeMs]);
  const before = modificationTimes(join(dataDir, "memories"));
  await backUp(dataDir, join(root, "backup"));
  expect(modificationTimes(join(dataDir, "memories"))).toEqual(before);
  const backup = modificationTimes(join(root, "backup"));
  await restore(join(root, "backup"), join(root, "restored"));
  expect(modificationTimes(join(root, "backup"))).toEqual(backup);
});

test("in a terminal a short backup prints one line", async () => {
  const { root, dataDir } = createData();
  const { screen, exitCode } = await ctxdInTerminal(["backup", join(root, "b")], [], {
    dataDir,
    env,
  });
  expect({ exitCode, lines: screen.trimEnd().split("\n").length }).toEqual({
    exitCode: 0,
    lines: 1,
  });
});
