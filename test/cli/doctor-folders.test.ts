import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine } from "../support/command-line.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";
import { runDoctor, WITHOUT_MODEL } from "../support/doctor.ts";

test("a data folder that other users can read is a warning with a remedy, an interrupted restore a problem", async () => {
  const dataDir = temporaryFolder();
  testDatabase(dataDir);
  mkdirSync(join(dataDir, "restoring"));
  chmodSync(dataDir, 0o755);
  const { found } = await runDoctor(dataDir, WITHOUT_MODEL);
  expect(found("data folder")).toEqual({
    check: "data folder",
    state: "warning",
    message: `${dataDir} is open to other users: chmod go= ${dataDir} closes it.`,
  });
  expect(found("restore").message).toContain("run ctxd restore again");
});

test("a file instead of the data folder is a problem", async () => {
  const path = join(temporaryFolder(), "file");
  writeFileSync(path, "");
  expect((await runDoctor(path, WITHOUT_MODEL)).found("data folder").message).toContain(
    "is a file",
  );
});

test("folders that can't be written are problems", () => {
  const folder = temporaryFolder();
  chmodSync(folder, 0o555);
  // Root may write everywhere, so another user runs the command.
  const asSomeone = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
  const { stdout, exitCode } = Bun.spawnSync(
    [
      ...(process.getuid?.() === 0 ? asSomeone : []),
      ...commandLine(["doctor"], { dataDir: join(folder, "data"), isOtherUser: true }),
    ],
    {
      env: {
        HOME: folder,
        CTXD_CACHE_DIR: join(folder, "cache"),
        CTXD_PORT: "0",
        ...WITHOUT_MODEL,
        PATH: process.env.PATH,
      },
    },
  );
  expect(exitCode).toBe(1);
  expect(`${stdout}`).toMatch(/^problem {2}data folder: .* can't be written by this user/m);
  expect(`${stdout}`).toMatch(/^problem {2}cache folder: .* set CTXD_CACHE_DIR/m);
});

const canMount = process.platform === "linux" && process.getuid?.() === 0;
test.skipIf(!canMount).each([
  ["ro", "read-only", "problem"],
  ["noexec", "noexec", "warning"],
] as const)("a cache folder that is mounted %s is reported", async (option, text, state) => {
  const folder = join(temporaryFolder(), "a folder");
  mkdirSync(folder);
  const mounted = Bun.spawnSync([
    "mount",
    "-t",
    "tmpfs",
    "-o",
    `size=1m,${option}`,
    "tmpfs",
    folder,
  ]);
  // A container may forbid mounts.
  if (mounted.exitCode !== 0) return console.warn(`not tried: ${mounted.stderr}`);
  try {
    const link = join(folder, "..", "link");
    symlinkSync(folder, link);
    for (const path of [folder, join(folder, "..", "a folder", "x", "y"), link]) {
      const { found } = await runDoctor(temporaryFolder(), {
        ...WITHOUT_MODEL,
        CTXD_CACHE_DIR: path,
      });
      expect(found("cache folder")).toMatchObject({ state });
      expect(found("cache folder").message).toContain(text);
    }
  } finally {
    Bun.spawnSync(["umount", folder]);
  }
});

test.skipIf(!canMount)("a disk that is nearly full is a problem", async () => {
  const folder = temporaryFolder();
  const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  if (mounted.exitCode !== 0) return console.warn(`not tried: ${mounted.stderr}`);
  try {
    expect((await runDoctor(folder, WITHOUT_MODEL)).found("disk")).toMatchObject({
      state: "problem",
    });
  } finally {
    Bun.spawnSync(["umount", folder]);
  }
});
