import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { SETTINGS } from "../../src/config/settings.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { commandLine, ctxd } from "../support/command-line.ts";
import { temporaryFolder, testDatabase } from "../support/database.ts";

test.each(["--version", "-V"])("%s prints the version", async (flag) => {
  const printed = await ctxd([flag]);
  expect(printed).toEqual({ stdout: `${packageJson.version}\n`, stderr: "", exitCode: 0 });
});

test.each(["--help", "help", "-h"])("%s names every command", async (word) => {
  const { stdout, stderr, exitCode } = await ctxd([word]);
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  for (const name of ["serve", "user", "key", "--data-dir"]) expect(stdout).toContain(name);
});

test("help explains a command of a group, and reports an unknown one", async () => {
  const explained = await ctxd(["help", "user", "add"]);
  expect(explained).toEqual(await ctxd(["user", "add", "--help"]));
  expect(explained.stdout).toStartWith("Usage: ctxd user add [options] <email>");
  const refused = await ctxd(["help", "user", "nonsense"]);
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toStartWith("ctxd: unknown command 'user nonsense'\n");
});

test("serve explains every setting", async () => {
  const { stdout } = await ctxd(["help", "serve"]);
  // Each once, in its group.
  for (const name of Object.keys(SETTINGS)) {
    expect([name, stdout.split(`\n  ${name} `).length]).toEqual([name, 2]);
  }
});

test.each([
  [["nonsense"], "unknown command 'nonsense'"],
  [["user", "nonsense"], "unknown command 'nonsense'"],
  [["--prot", "80"], "ctxd: unknown option '--prot'\nDid you mean --port?\nRun"],
  [["user", "add"], "ctxd: <email> is missing.\nRun ctxd help user add"],
  [["user", "list", "extra"], "ctxd: list got too many arguments: extra.\nRun ctxd help user list"],
  [["key", "create"], "ctxd: --user <email> is missing.\nRun ctxd help key create"],
  [["move", "--to"], "ctxd: --to needs a value: --to <project>.\nRun"],
  [["search", "tea", "--limit", "0"], "ctxd: --limit does not take '0'. Use a whole number from 1"],
  [["import", "--from", "x"], "ctxd: --from does not take 'x'. Use one of claude-code, codex"],
  [["completion", "x"], "ctxd: 'x' is no shell. Use one of bash, zsh, fish.\nRun"],
  [["connect", "xyz"], "ctxd: 'xyz' is no agent.\nAgents: claude-code, "],
  [["user"], "Usage: ctxd user"],
  [["serve", "--port", "many"], '--port="many" is not valid'],
])("%j is wrong usage", async (args, message) => {
  const refused = await ctxd(args, { dataDir: temporaryFolder() });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain(message);
});

test.each([
  [
    ["start"],
    "ctxd: unknown command 'start'\nDid you mean serve?\nRun ctxd help to see all commands.",
  ],
  [["delete", "it"], "ctxd: unknown command 'delete'\nDid you mean forget?\n"],
  [["search", "--projet", "x"], "Run ctxd help search to see how it is used."],
  [["user", "add", "--mail"], "Run ctxd help user add to see how it is used."],
  [["connect", "claude-cod"], "ctxd: 'claude-cod' is no agent.\nDid you mean claude-code?\n"],
])("%j is told what may be meant", async (args, message) => {
  const refused = await ctxd(args, { dataDir: temporaryFolder() });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain(message);
});

test.each([
  [["status"]],
  [["search", "tea"]],
  [["export", "-"]],
  [["forget", "mem_1", "--yes"]],
  [["user", "list"]],
  [["key", "list"]],
  [["security"]],
  [["recall"]],
])("%j creates no data folder", async (args) => {
  const dataDir = join(temporaryFolder(), "mistyped");
  for (const surroundings of [{ dataDir }, { env: { CTXD_DATA_DIR: dataDir } }]) {
    expect(await ctxd(args, surroundings)).toEqual({
      stdout: "",
      stderr: `ctxd: There is no data folder ${dataDir}: ctxd save and ctxd serve create one.\n`,
      exitCode: 1,
    });
    expect(existsSync(dataDir)).toBe(false);
  }
});

test("a hook that recalls creates no data folder, and says nothing", async () => {
  const dataDir = join(temporaryFolder(), "new");
  const input = JSON.stringify({ hook_event_name: "UserPromptSubmit", prompt: "tea?" });
  const nothing = { stdout: "", stderr: "", exitCode: 0 };
  expect(await ctxd(["recall"], { dataDir, input })).toEqual(nothing);
  expect(existsSync(dataDir)).toBe(false);
});

test.skipIf(process.platform !== "linux")(
  "a folder in which nothing can be created is named",
  async () => {
    const { stderr, exitCode } = await ctxd(["serve"], { dataDir: "/proc/x" });
    expect({ stderr, exitCode }).toEqual({
      stderr:
        "ctxd: The database /proc/x/ctxd.db can't be created, because the system allows no new files there: choose another folder with --data-dir or CTXD_DATA_DIR.\n",
      exitCode: 1,
    });
  },
);

test("an address that this machine does not have is named", async () => {
  const args = ["serve", "--host", "203.0.113.7", "--port", "0"];
  const { stderr, exitCode } = await ctxd(args, { dataDir: temporaryFolder() });
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    "ctxd: This machine has no address 203.0.113.7: choose another with --host",
  );
});

test.each([
  [{ CTXD_PORT: "99999" }, 'ctxd: CTXD_PORT="99999" is not valid'],
  [{ CTXD_PROT: "80" }, "ctxd: Unknown setting CTXD_PROT"],
])("the bad setting %j stops every command in one line", async (env, message) => {
  const refused = await ctxd(["user", "list"], { dataDir: temporaryFolder(), env });
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toStartWith(message);
  expect(refused.stderr.match(/\n/g)).toHaveLength(1);
});

test("--data-dir may come before the command, and overrides CTXD_DATA_DIR", async () => {
  const folder = temporaryFolder();
  const env = { CTXD_DATA_DIR: join(folder, "no") };
  mkdirSync(join(folder, "yes"));
  await ctxd(["--data-dir", join(folder, "yes"), "user", "list"], { env });
  expect(existsSync(databasePath(join(folder, "yes")))).toBe(true);
  expect(existsSync(join(folder, "no"))).toBe(false);
  mkdirSync(join(folder, "no"));
  await ctxd(["user", "list"], { env });
  expect(existsSync(databasePath(join(folder, "no")))).toBe(true);
});

test.each([
  ["a file in the way", "can't be created because a file is where a folder should be"],
  ["a damaged database", "is damaged or not a database of ctxd"],
  ["a newer database", "written by a newer ctxd"],
])("%s is named in one line", async (kind, message) => {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  if (kind === "a file in the way") writeFileSync(dataDir, "");
  else mkdirSync(dataDir);
  if (kind === "a damaged database") writeFileSync(databasePath(dataDir), "x".repeat(5_000));
  if (kind === "a newer database") testDatabase(dataDir).sqlite.run("PRAGMA user_version = 1000");
  const refused = await ctxd(["user", "list"], { dataDir });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toMatch(/^ctxd: [^\n]+\n$/);
  expect(refused.stderr).toContain(message);
});

test.skipIf(process.getuid?.() === 0)("a folder that can't be written is named", async () => {
  const dataDir = temporaryFolder();
  chmodSync(dataDir, 0o500);
  const refused = await ctxd(["user", "list"], { dataDir });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/^ctxd: .*permission is denied.*--data-dir.*\n$/);
});

test("a closed output pipe causes no stack trace", async () => {
  const command = commandLine(["--help"], {}).join('" "');
  const run = `(sleep 0.3; "${command}"; echo $? >&2) | true`;
  const child = Bun.spawn(["sh", "-c", run], { stdout: "pipe", stderr: "pipe" });
  expect(await child.stderr.text()).toMatch(/^\d\n$/);
});

test("an unusable cache folder stops the start with one line", async () => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, "file");
  await Bun.write(file, "");
  const { stderr, exitCode } = await ctxd(["serve", "--port", "0"], {
    dataDir: join(dataDir, "data"),
    env: { CTXD_CACHE_DIR: join(file, "cache") },
  });
  expect(stderr).toMatch(/^ctxd: The cache folder .* set CTXD_CACHE_DIR to another folder\.\n$/);
  expect(exitCode).toBe(1);
});
