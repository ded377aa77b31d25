import { describe, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { homeWithClients } from "../support/client-homes.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";

const linuxOnly = test.skipIf(process.platform !== "linux");

describe("a file that can't be changed is named in one line, and is not changed:", () => {
  test.each([
    ["invalid JSON", '{"mcpServers": ', "is not valid JSON (line 1: value expected)."],
    [
      "another value instead of servers",
      '{"mcpServers": 1}',
      "has no object of servers under mcpServers: correct it first.",
    ],
    ["invalid UTF-8", "\xff\xfe", "is not text in UTF-8."],
  ])("%s", async (_, text, message) => {
    const { path, run } = homeWithClients();
    writeFileSync(path("cursor"), text, "latin1");
    const refused = await run(["cursor", "--yes"]);
    expect(refused).toMatchObject({
      exitCode: 1,
      stdout: "",
      stderr: `ctxd: ${path("cursor")} ${message}\n`,
    });
    expect(readFileSync(path("cursor"), "latin1")).toBe(text);
    expect(readdirSync(dirname(path("cursor")))).toEqual(["mcp.json"]);
  });

  test("a file that is read-only", async () => {
    const { get, path, put, run } = homeWithClients();
    put("cursor", "{}", 0o444);
    const refused = await run(["cursor", "--yes"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`${path("cursor")} is read-only: make it writable`);
    expect(get("cursor")).toBe("{}");
  });

  test("a folder instead of the file, and a broken symbolic link", async () => {
    const { path, run } = homeWithClients();
    mkdirSync(path("cursor"));
    symlinkSync("/nonexistent/settings.json", path("gemini"));
    expect((await run(["cursor", "--yes"])).stderr).toBe(
      `ctxd: ${path("cursor")} is not a file.\n`,
    );
    const refused = await run(["gemini", "--yes"]);
    expect(refused.stderr).toBe(`ctxd: ${path("gemini")} can't be read (ENOENT).\n`);
  });

  linuxOnly("a folder in which no file can be created", async () => {
    const { path, run } = homeWithClients();
    Bun.spawnSync(["rmdir", dirname(path("cursor"))]);
    symlinkSync("/proc/self", dirname(path("cursor")));
    const refused = await run(["cursor", "--yes"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/can't be written \(E\w+\): nothing was changed\.\n$/);
  });

  test("a client that has never run", async () => {
    const home = temporaryFolder();
    const refused = await ctxd(["connect", "cursor", "--yes"], { env: { HOME: home } });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(
      /^ctxd: Cursor has never run here: .*Start it once, or add --print to see what belongs there\.\n$/,
    );
    expect(readdirSync(home)).not.toContain(".cursor");
  });
});

test.each([
  [["emacs"], "Agents: claude-code, codex, "],
  [["windsurv"], "Did you mean windsurf?"],
  [["chatgpt"], "ChatGPT is connected in its own settings"],
  [["cursor", "--all"], "Use --all or an agent, not both.\nRun ctxd help connect"],
  [["--all", "--print"], "--print needs one agent"],
  [["--yes"], "Name an agent too"],
  [["cursor", "--key"], "--key needs --url"],
  [
    ["claude-code", "--capture", "--direct", "--key", "--url", "https://memory.example.com"],
    "need ctxd between the agent and the server",
  ],
  [["cursor", "--direct", "--url", "https://memory.example.com"], "--direct goes with"],
  [["cursor", "--remove", "--print"], "--remove can only be combined with --yes"],
  [["cursor", "--url", "memory.example.com"], "Use an address such as"],
  [["cursor", "--url", "https://memory.example.com/some/path"], "Use the address alone"],
])("%j is wrong usage", async (args, message) => {
  const refused = await homeWithClients().run(args);
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain(message);
});
