import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS } from "../../src/connect/clients.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import { ownCommand } from "../../src/server/invocation.ts";
import { program, stopServer } from "../support/bridge.ts";
import { homeWithClients } from "../support/client-homes.ts";
import { ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { connectProgram } from "../support/mcp.ts";

const ADDRESS = "https://memory.example.com";

test("every client can be connected, is listed as connected, and can be disconnected", async () => {
  const { home, entry, run, path } = homeWithClients();
  const all = (...options: string[]) => run(["--all", "--yes", ...options]);
  expect((await run([])).stdout).not.toMatch(/ {2}connected/);
  expect(await all()).toMatchObject({ exitCode: 0, stdout: "" });
  const [command = "", ...first] = ownCommand;
  for (const { id, local } of CLIENTS) {
    expect(entry(id)).toEqual(local({ command, args: [...first, "mcp", "--agent", id] }));
    expect(statSync(path(id)).mode & 0o777).toBe(0o600);
  }
  const { stdout } = await run([]);
  expect(stdout.match(/ connected {2}/g)).toHaveLength(CLIENTS.length);
  const same = (await all()).stderr.match(
    / is already connected like this: nothing to change\.$/gm,
  );
  expect(same).toHaveLength(CLIENTS.length);
  expect(await all("--remove")).toMatchObject({ exitCode: 0 });
  for (const { id } of CLIENTS) expect(entry(id)).toBeNull();
  const gone = (await all("--remove")).stderr.match(/ is not connected: nothing to change\.$/gm);
  expect(gone).toHaveLength(CLIENTS.length);
  const files = readdirSync(home, { recursive: true, encoding: "utf8" });
  expect(files.filter((name) => /\.tmp$|ctxd/.test(name))).toEqual([]);
});

test("--all connects every installed agent, also when the file of one is damaged", async () => {
  const home = temporaryFolder();
  const env = { HOME: home };
  const none = await ctxd(["connect", "--all", "--yes"], { env });
  expect(none).toMatchObject({ exitCode: 1, stdout: "" });
  expect(none.stderr).toContain("No agent that ctxd knows was found");
  for (const folder of [".cursor", ".codex", ".kiro"]) mkdirSync(join(home, folder));
  writeFileSync(join(home, ".codex", "config.toml"), "a =");
  const { exitCode, stderr } = await ctxd(["connect", "--all", "--yes", "--capture"], { env });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Cursor is connected to the memory on this machine");
  expect(stderr).toContain("Kiro is connected to the memory on this machine");
  expect(stderr.match(/are saved for 90 days/g)).toHaveLength(1);
  expect(stderr).toContain("Skipped --capture: Kiro has no settings for that");
  expect(stderr).toContain("config.toml is not valid TOML");
  expect(stderr).toEndWith("ctxd: 1 could not be changed.\n");
  expect(existsSync(join(home, ".kiro", "settings", "mcp.json"))).toBe(true);
  expect(existsSync(join(home, ".codeium"))).toBe(false);
});

test("a file keeps its mode and its symbolic link, and is copied as it was before", async () => {
  const { home, path, put, get, run } = homeWithClients();
  const text = '{\n  // mine\n  "mcpServers": {}\n}\n';
  put("cursor", "");
  const real = join(home, "dotfiles.json");
  writeFileSync(real, text);
  chmodSync(real, 0o640);
  Bun.spawnSync(["rm", path("cursor")]);
  symlinkSync(real, path("cursor"));
  expect(await run(["cursor", "--yes"])).toMatchObject({ exitCode: 0 });
  expect(lstatSync(path("cursor")).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o640);
  expect(get("cursor")).toContain("// mine");
  expect(readFileSync(`${real}.before-ctxd`, "utf8")).toBe(text);
  expect(statSync(`${real}.before-ctxd`).mode & 0o777).toBe(0o640);
  const removed = await run(["cursor", "--remove", "--yes"]);
  expect(removed.stderr).toContain(`Removed the copy ${real}.before-ctxd.`);
  expect(readFileSync(real, "utf8")).toBe(text);
});

test("without a terminal and --yes the change is shown and not made", async () => {
  const { get, put, run } = homeWithClients();
  put("codex", 'model = "x"\n');
  const { stdout, stderr, exitCode } = await run(["codex"]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).toContain('  model = "x"\n+ \n+ [mcp_servers.ctxd]\n');
  expect(stderr).toEndWith("Nothing was changed: without a terminal this needs --yes.\n");
  expect(get("codex")).toBe('model = "x"\n');
});

test.each([
  ["y", 0, true],
  ["n", 1, false],
])(
  "in a terminal connect asks for confirmation and obeys %s",
  async (answer, exitCode, isWritten) => {
    const { home, entry } = homeWithClients();
    const asked = await ctxdInTerminal(
      ["connect", "gemini"],
      [["Make these changes?", `${answer}\r`]],
      {
        env: { HOME: home },
      },
    );
    expect(asked.exitCode).toBe(exitCode);
    expect(entry("gemini") !== null).toBe(isWritten);
  },
);

test("in a terminal connect offers the recall hook of Claude Code", async () => {
  const { home } = homeWithClients();
  const steps = [
    ["what is known about the project?", "y\r"],
    ["Make these changes?", "y\r"],
  ] as const;
  const surroundings = { env: { HOME: home } };
  expect((await ctxdInTerminal(["connect", "claude-code"], steps, surroundings)).exitCode).toBe(0);
  expect(readFileSync(join(home, ".claude", "settings.json"), "utf8")).toContain(" recall");
});

describe("a remote server:", () => {
  test("by sign-in", async () => {
    const { entry, run } = homeWithClients();
    const { stderr } = await run(["codex", "--url", `${ADDRESS}/mcp/`, "--yes"]);
    expect(entry("codex")).toEqual({ url: `${ADDRESS}/mcp` });
    expect(stderr).toContain("Then run codex mcp login ctxd.");
  });

  test("by the agent itself, with a key from standard input, which is not printed", async () => {
    const { entry, get, path, put, run } = homeWithClients();
    const key = generateKey();
    put("cursor", "{}", 0o644);
    const { stdout, stderr } = await run(
      ["cursor", "--url", ADDRESS, "--key", "--direct", "--yes"],
      {
        input: `${key}\n`,
      },
    );
    expect(entry("cursor")).toEqual({
      url: `${ADDRESS}/mcp`,
      headers: { Authorization: `Bearer ${key}`, "ctxd-agent": "cursor" },
    });
    expect(stdout + stderr).not.toContain(key);
    expect(stderr).toContain(`+         "Authorization": "Bearer ${key.slice(0, 8)}…"`);
    expect(stderr).toContain("Other users of this machine can read the key in it: chmod 600 ");
    const removed = await run(["cursor", "--remove", "--yes"]);
    expect(removed.stderr).not.toContain(key);
    const left = readdirSync(dirname(path("cursor")));
    expect(left).toEqual(["mcp.json"]);
    expect(get("cursor")).toBe("{}");
  });

  test("a mistyped key is refused, and no key is sent unencrypted", async () => {
    const { entry, run } = homeWithClients();
    const clear = await run(["cursor", "--url", "http://memory.example.com", "--key", "--yes"], {
      input: `${generateKey()}\n`,
    });
    expect(clear.stderr).toContain("unencrypted: use https");
    const refused = await run(["cursor", "--url", ADDRESS, "--key", "--yes"], {
      input: "ctx_oops\n",
    });
    expect(refused).toMatchObject({ exitCode: 1, stdout: "" });
    expect(refused.stderr).toBe(
      "ctxd: This is not an API key of ctxd: a part of it may be missing or mistyped.\n",
    );
    expect(entry("cursor")).toBeNull();
  });
});

test("--print prints the entry, and needs no file", async () => {
  const home = temporaryFolder();
  const { stdout, exitCode } = await ctxd(["connect", "vscode", "--print", "--url", ADDRESS], {
    env: { HOME: home },
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    servers: { ctxd: { type: "http", url: `${ADDRESS}/mcp` } },
  });
});

test("folders of clients are found by their environment variables", async () => {
  const { home, run } = homeWithClients();
  const env = {
    CODEX_HOME: join(home, "a"),
    XDG_CONFIG_HOME: join(home, "b"),
    CLAUDE_CONFIG_DIR: join(home, "c"),
  };
  for (const folder of ["a", "b/goose", "c"]) mkdirSync(join(home, folder), { recursive: true });
  const ids = ["codex", "goose", "claude-code"];
  await Promise.all(ids.map((id) => run([id, "--yes"], { env })));
  for (const file of ["a/config.toml", "b/goose/config.yaml", "c/.claude.json"]) {
    expect(existsSync(join(home, file)) || process.platform === "darwin").toBe(true);
  }
});

test("Claude Code can run the server and the hook of its settings", async () => {
  const { home, entry, run } = homeWithClients();
  const dataDir = join(temporaryFolder(), "data folder");
  expect(await run(["claude-code", "--recall", "--yes"], { dataDir })).toMatchObject({
    exitCode: 0,
  });
  const { command, args } = entry("claude-code") as { command: string; args: string[] };
  const { env } = program(dataDir);
  const folder = join(home, "shed", "src");
  mkdirSync(join(home, "shed", ".git"), { recursive: true });
  mkdirSync(folder);
  writeFileSync(join(home, "shed", ".git", "HEAD"), "ref: refs/heads/main\n");
  try {
    {
      await using agent = await connectProgram("v1", { command, args, env, cwd: folder });
      const saved = await agent.call("save_memory", { content: "The shed project uses oak." });
      expect(saved.isError).toBe(false);
      await agent.call("save_memory", { content: "Anna's birthday is on 4 March." });
      const { text } = await agent.call("list_memories");
      expect(text).toContain("agent: claude-code");
    }
    const settings = JSON.parse(readFileSync(join(home, ".claude", "settings.json"), "utf8"));
    const [{ matcher, hooks }] = settings.hooks.SessionStart;
    expect(matcher).toBe("startup|clear|compact");
    const hook = Bun.spawnSync(["sh", "-c", hooks[0].command], { cwd: folder, env });
    expect(hook.stdout.toString()).toMatch(
      /^From the user.*\n- .* Anna.*\n- \(.*, mem_\w+\) The shed project uses oak\.\n$/,
    );
    expect(hook.exitCode).toBe(0);
  } finally {
    await stopServer(dataDir);
  }
  await run(["claude-code", "--remove", "--yes"], { dataDir });
  expect(existsSync(join(home, ".claude", "settings.json"))).toBe(false);
});

test("recall prints nothing without memories", async () => {
  const dataDir = temporaryFolder();
  const { env } = program(dataDir);
  expect(await ctxd(["recall"], { dataDir, env })).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  await stopServer(dataDir);
});
