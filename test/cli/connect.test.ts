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
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import { readEntry } from "../../src/connect/entry.ts";
import { generateKey } from "../../src/keys/key-format.ts";
import { ownCommand } from "../../src/server/invocation.ts";
import { program, stopServer } from "../support/bridge.ts";
import { ctxd, ctxdInTerminal, type Surroundings } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { connectProgram } from "../support/mcp.ts";

const ADDRESS = "https://memory.example.com";
const linuxOnly = test.skipIf(process.platform !== "linux");

/** A home folder in which all clients have run; `put` and `get` know their files. */
function someHome() {
  const home = temporaryFolder();
  const path = (id: string) => {
    const client = findClient(id);
    const { linux = "", macos = "" } = client?.file ?? {};
    return (process.platform === "darwin" ? macos : linux).replace("~", home);
  };
  for (const { id } of CLIENTS) mkdirSync(dirname(path(id)), { recursive: true });
  mkdirSync(join(home, ".claude"));
  return {
    home,
    path,
    put: (id: string, text: string, mode = 0o644) => writeFileSync(path(id), text, { mode }),
    get: (id: string) => readFileSync(path(id), "utf8"),
    entry: (id: string) => {
      const client = findClient(id);
      return client && existsSync(path(id))
        ? readEntry(client, readFileSync(path(id), "utf8"))
        : null;
    },
    run: (args: string[], surroundings: Surroundings = {}) =>
      ctxd(["connect", ...args], { ...surroundings, env: { HOME: home, ...surroundings.env } }),
  };
}

test("every client is connected, shown as connected, and disconnected again", async () => {
  const { home, entry, run, path } = someHome();
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
  expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
}, 30_000);

test("--all connects the agents that are found, and a damaged file keeps none from the others", async () => {
  const home = temporaryFolder();
  const env = { HOME: home };
  const nobody = await ctxd(["connect", "--all", "--yes"], { env });
  expect(nobody).toMatchObject({ exitCode: 1, stdout: "" });
  expect(nobody.stderr).toContain("No agent that ctxd knows was found");
  for (const folder of [".cursor", ".codex", ".kiro"]) mkdirSync(join(home, folder));
  writeFileSync(join(home, ".codex", "config.toml"), "a =");
  const { exitCode, stderr } = await ctxd(["connect", "--all", "--yes", "--capture"], { env });
  expect(exitCode).toBe(1);
  expect(stderr).toContain("Cursor is connected to the memory on this machine");
  expect(stderr).toContain("Kiro is connected to the memory on this machine");
  expect(stderr.match(/are saved for 90 days/g)).toHaveLength(1);
  expect(stderr).toContain("It has no hooks, so it can use the tools only.");
  expect(stderr).toContain("config.toml is not valid TOML");
  expect(stderr).toEndWith("ctxd: 1 could not be changed.\n");
  expect(existsSync(join(home, ".kiro", "settings", "mcp.json"))).toBe(true);
  expect(existsSync(join(home, ".codeium"))).toBe(false);
});

test("a file keeps its mode and its link, and a copy of what it was", async () => {
  const { home, path, put, get, run } = someHome();
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
});

test("without a terminal and without --yes it shows the change and makes none", async () => {
  const { get, put, run } = someHome();
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
])("in a terminal it asks, and %s is heeded", async (answer, exitCode, isWritten) => {
  const { home, entry } = someHome();
  const asked = await ctxdInTerminal(
    ["connect", "gemini"],
    [["Make these changes?", `${answer}\r`]],
    {
      env: { HOME: home },
    },
  );
  expect(asked.exitCode).toBe(exitCode);
  expect(entry("gemini") !== null).toBe(isWritten);
});

test("in a terminal it offers Claude Code's hook", async () => {
  const { home } = someHome();
  const steps = [
    ["what is known about the project?", "y\r"],
    ["Make these changes?", "y\r"],
  ] as const;
  const surroundings = { env: { HOME: home } };
  expect((await ctxdInTerminal(["connect", "claude-code"], steps, surroundings)).exitCode).toBe(0);
  expect(readFileSync(join(home, ".claude", "settings.json"), "utf8")).toContain(" recall");
});

describe("a server elsewhere:", () => {
  test("by sign-in", async () => {
    const { entry, run } = someHome();
    const { stderr } = await run(["codex", "--url", `${ADDRESS}/mcp/`, "--yes"]);
    expect(entry("codex")).toEqual({ url: `${ADDRESS}/mcp` });
    expect(stderr).toContain("Then run codex mcp login ctxd.");
  });

  test("with a key from standard input, which is shown nowhere", async () => {
    const { entry, put, run } = someHome();
    const key = generateKey();
    put("cursor", "{}", 0o644);
    const { stdout, stderr } = await run(["cursor", "--url", ADDRESS, "--key", "--yes"], {
      input: `${key}\n`,
    });
    expect(entry("cursor")).toEqual({
      url: `${ADDRESS}/mcp`,
      headers: { Authorization: `Bearer ${key}`, "ctxd-agent": "cursor" },
    });
    expect(stdout + stderr).not.toContain(key);
    expect(stderr).toContain(`+         "Authorization": "Bearer ${key.slice(0, 8)}…"`);
    expect(stderr).toContain("Other users of this machine can read the key in it: chmod 600 ");
    const removed = await run(["cursor", "--remove", "--yes"]);
    expect(removed.stderr).toContain("That copy still contains an API key.");
    expect(removed.stderr).not.toContain(key);
  });

  test("a mistyped key is told before it is written, and none goes anywhere in the clear", async () => {
    const { entry, run } = someHome();
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

test("--print prints what belongs into the file, and needs none", async () => {
  const home = temporaryFolder();
  const { stdout, exitCode } = await ctxd(["connect", "vscode", "--print", "--url", ADDRESS], {
    env: { HOME: home },
  });
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    servers: { ctxd: { type: "http", url: `${ADDRESS}/mcp` } },
  });
});

test("clients whose folders were moved are found there", async () => {
  const { home, run } = someHome();
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

describe("what can't be changed is named in one line, and stays:", () => {
  test.each([
    ["no JSON", '{"mcpServers": ', "is not valid JSON (line 1: value expected)."],
    [
      "something else under the key",
      '{"mcpServers": 1}',
      "has no object of servers under mcpServers: correct it first.",
    ],
    ["bytes that are no text", "\xff\xfe", "is not text in UTF-8."],
  ])("%s", async (_, text, message) => {
    const { path, run } = someHome();
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
    const { get, path, put, run } = someHome();
    put("cursor", "{}", 0o444);
    const refused = await run(["cursor", "--yes"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain(`${path("cursor")} is read-only: make it writable`);
    expect(get("cursor")).toBe("{}");
  });

  test("a folder in the file's place, and a link that leads nowhere", async () => {
    const { path, run } = someHome();
    mkdirSync(path("cursor"));
    symlinkSync("/nonexistent/settings.json", path("gemini"));
    expect((await run(["cursor", "--yes"])).stderr).toBe(
      `ctxd: ${path("cursor")} is not a file.\n`,
    );
    const refused = await run(["gemini", "--yes"]);
    expect(refused.stderr).toBe(`ctxd: ${path("gemini")} can't be read (ENOENT).\n`);
  });

  linuxOnly("a folder that takes no new file", async () => {
    const { path, run } = someHome();
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
      /^ctxd: Cursor has never run here, .*start it once, or use --print\.\n$/,
    );
    expect(readdirSync(home)).not.toContain(".cursor");
  });
});

test.each([
  [["emacs"], "Clients: claude-code, codex, "],
  [["windsurv"], "Did you mean windsurf?"],
  [["chatgpt"], "ChatGPT is connected in its own settings"],
  [["cursor", "--all"], "use --all or a client"],
  [["--all", "--print"], "--print needs one client"],
  [["--yes"], "name a client too"],
  [["cursor", "--key"], "--key needs --url"],
  [["goose", "--recall"], "--recall and --capture need an agent with hooks: claude-code, "],
  [["cursor", "--allow"], "--allow works with claude-code, codex, gemini."],
  [["claude-code", "--capture", "--url", ADDRESS], "use the memory on this machine"],
  [["cursor", "--remove", "--print"], "--remove can only be combined with --yes"],
  [["cursor", "--url", "memory.example.com"], "Use an address such as"],
  [["cursor", "--url", `${ADDRESS}/some/path`], "Use the address alone"],
])("%j is wrong usage", async (args, message) => {
  const refused = await someHome().run(args);
  expect(refused).toMatchObject({ stdout: "", exitCode: 2 });
  expect(refused.stderr).toContain(message);
});

test("what was written for Claude Code works: its server, and its hook", async () => {
  const { home, entry, run } = someHome();
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
      /^From the user.*\n- Anna.*\n- The shed project uses oak\. \(.*, mem_\w+\)\n$/,
    );
    expect(hook.exitCode).toBe(0);
  } finally {
    await stopServer(dataDir);
  }
  await run(["claude-code", "--remove", "--yes"], { dataDir });
  expect(readFileSync(join(home, ".claude", "settings.json"), "utf8")).not.toContain("recall");
}, 60_000);

test("recall prints nothing where nothing is known", async () => {
  const dataDir = temporaryFolder();
  const { env } = program(dataDir);
  expect(await ctxd(["recall"], { dataDir, env })).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  await stopServer(dataDir);
}, 30_000);
