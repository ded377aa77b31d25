import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import { hooksIn } from "../../src/connect/hooks.ts";
import { ownCommand } from "../../src/server/invocation.ts";
import { program, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { WITHOUT_MODEL } from "../support/doctor.ts";
import { until } from "../support/until.ts";

/** A home folder in which every agent with hooks has run. */
function homeWithAgents() {
  const home = temporaryFolder();
  for (const { hooks, plugin, file } of CLIENTS) {
    if (hooks ?? plugin) mkdirSync(dirname(file.linux).replace("~", home), { recursive: true });
  }
  mkdirSync(join(home, ".claude"));
  const at = (path: string) => join(home, path);
  return {
    home,
    at,
    read: (path: string) => readFileSync(at(path), "utf8"),
    put(path: string, text: string) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    run: (args: string[], dataDir?: string) =>
      ctxd(["connect", ...args], { env: { HOME: home }, ...(dataDir && { dataDir }) }),
    exists: (path: string) => existsSync(at(path)),
  };
}

const settingsOf = (id: string) => findClient(id)?.hooks?.file.linux.slice(2) ?? "";

test.each(CLIENTS.filter(({ hooks }) => hooks).map(({ id }) => id))(
  "%s captures and recalls when it was asked for, and what was there is there again afterwards",
  async (id) => {
    const { run, read, put } = homeWithAgents();
    const path = settingsOf(id);
    const isToml = findClient(id)?.hooks?.format === "toml";
    const mine = isToml
      ? '# mine\ntheme = "dark"\n'
      : '{\n  // mine\n  "version": 1,\n  "theme": "dark"\n}\n';
    put(path, mine);
    expect(await run([id, "--yes"])).toMatchObject({ exitCode: 0 });
    expect(read(path)).not.toMatch(/ (capture|recall) /);
    const { stderr, exitCode } = await run([id, "--capture", "--recall", "--yes"]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`+ `);
    expect(stderr).toContain("saved for 90 days");
    const hooks = findClient(id)?.hooks;
    if (!hooks) throw new Error("it has hooks");
    expect(hooksIn(hooks, read(path))).toEqual(["recall", "capture"]);
    expect(read(path)).toContain(`capture --agent ${id}`);
    expect((await run([])).stdout).toMatch(
      new RegExp(`^${id} .* connected, recall, capture `, "m"),
    );
    // Connecting again keeps the hooks, and each can be removed alone.
    expect((await run([id, "--yes"])).stderr).toContain("nothing to change");
    await run([id, "--no-capture", "--yes"]);
    expect(hooksIn(hooks, read(path))).toEqual(["recall"]);
    expect(await run([id, "--remove", "--yes"])).toMatchObject({ exitCode: 0 });
    expect(read(path)).toBe(mine);
  },
);

test("with --allow an agent uses the memory without asking", async () => {
  const { run, read, exists } = homeWithAgents();
  for (const id of ["claude-code", "codex", "gemini", "qwen"]) {
    expect(await run([id, "--allow", "--yes"])).toMatchObject({ exitCode: 0 });
  }
  expect(JSON.parse(read(".claude/settings.json")).permissions.allow).toEqual(["mcp__ctxd"]);
  expect(read(".codex/config.toml")).toContain('default_tools_approval_mode = "approve"');
  expect(JSON.parse(read(".gemini/settings.json")).mcpServers.ctxd.trust).toBe(true);
  expect(JSON.parse(read(".qwen/settings.json")).mcpServers.ctxd.trust).toBe(true);
  for (const id of ["claude-code", "codex", "gemini"]) await run([id, "--remove", "--yes"]);
  expect(exists(".claude/settings.json")).toBe(false);
  expect(exists(".gemini/settings.json")).toBe(false);
});

test.each([
  ["opencode", "Skipped --allow: OpenCode has no settings for that"],
  ["kilo", "Skipped --allow: Kilo Code CLI has no settings for that"],
  ["warp", "Skipped --recall, --capture and --allow: Warp has no settings for that"],
])("%s is connected, and what it lacks is skipped with a sentence", async (id, sentence) => {
  const { run, at } = homeWithAgents();
  mkdirSync(at(".warp"));
  const all = [id, "--recall", "--capture", "--allow", "--yes"];
  const connected = await run(all);
  expect(connected).toMatchObject({ exitCode: 0, stdout: "" });
  expect(connected.stderr).toContain(sentence);
  expect((await run([])).stdout).toMatch(
    new RegExp(`^${id} .* connected${id === "warp" ? "" : ", recall, capture"} `, "m"),
  );
  const again = await run(all);
  expect(again.stderr).toContain("nothing to change");
  expect(again.stderr).toContain(sentence);
});

test.each([
  ["an untrusted folder", {}, true],
  ["a trusted folder", { "/": "TRUST_FOLDER" }, false],
  ["a folder below a trusted one", { "/a": "DO_NOT_TRUST", "/x": "TRUST_PARENT" }, false],
  ["a folder that is excepted", { "/": "TRUST_FOLDER", "/./": "DO_NOT_TRUST" }, true],
])("connect and doctor say whether Gemini CLI starts servers in %s", async (_, rules, isSaid) => {
  const { run, put, home } = homeWithAgents();
  put(".gemini/trustedFolders.json", JSON.stringify(rules));
  const says = (text: string) => text.includes("starts no MCP servers in");
  expect(says((await run(["gemini", "--yes"])).stderr)).toBe(isSaid);
  expect(says((await run(["gemini", "--yes"])).stderr)).toBe(isSaid);
  const doctor = await ctxd(["doctor"], { env: { HOME: home, ...WITHOUT_MODEL } });
  expect(says(doctor.stdout)).toBe(isSaid);
  put(".gemini/settings.json", '{ "security": { "folderTrust": { "enabled": false } } }');
  expect(says((await run(["gemini", "--yes"])).stderr)).toBe(false);
  expect(says((await run(["gemini", "--remove", "--yes"])).stderr)).toBe(false);
});

test("the plugin for OpenCode saves messages, recalls memories, and can be removed", async () => {
  const { run, read, at, home } = homeWithAgents();
  const dataDir = join(temporaryFolder(), "data");
  const plugin = ".config/opencode/plugins/ctxd.js";
  const options = ["opencode", "--capture", "--recall", "--yes"];
  expect(await run(options, dataDir)).toMatchObject({ exitCode: 0 });
  const text = read(plugin);
  expect(text).toContain(JSON.stringify(ownCommand.at(-1)));
  const folder = join(home, "opencode-project");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  const message = (id: string, role: string, parts: object[]) => ({
    info: { id, role, time: { created: 1_795_165_219_000 + id.length } },
    parts,
  });
  const messages = [
    message("a", "user", [{ type: "text", text: "An older question." }]),
    message("bb", "assistant", [{ type: "text", text: "An older answer." }]),
    message("ccc", "user", [
      { type: "text", text: "Our mascot is a newt." },
      { type: "text", text: "added by a program", synthetic: true },
    ]),
    message("dddd", "assistant", [
      { type: "tool", state: { output: "output of a tool" } },
      { type: "text", text: "A fine newt." },
    ]),
  ];
  const driver = at("driver.mjs");
  writeFileSync(
    driver,
    `import { ctxd } from ${JSON.stringify(at(plugin))};
const messages = ${JSON.stringify(messages)};
const client = { session: { messages: async () => ({ data: messages }) } };
const hooks = await ctxd({ client, directory: ${JSON.stringify(folder)} });
const idle = { type: "session.idle", properties: { sessionID: "s-1" } };
await hooks.event({ event: { type: "session.updated", properties: {} } });
await hooks.event({ event: idle });
const parts = [{ type: "text", text: "What is our mascot?" }];
const output = { system: [] };
await hooks["chat.message"]({ sessionID: "s-2" }, { parts });
await hooks["experimental.chat.system.transform"]({ sessionID: "s-2" }, output);
await hooks["experimental.chat.system.transform"]({ sessionID: "s-3" }, output);
console.log(JSON.stringify(output.system));
`,
  );
  const { env } = program(dataDir);
  const drive = async () => {
    const child = Bun.spawn([process.execPath, driver], { env, stdout: "pipe", stderr: "inherit" });
    return JSON.parse(await child.stdout.text()) as string[];
  };
  try {
    // The first hook starts the server, and later hooks use it.
    const recalled = await until("the message is saved", async () => {
      const [first] = await drive();
      return first?.includes("Our mascot is a newt.") ? first : null;
    });
    expect(recalled).not.toContain("added by a program");
    const asked = await ctxd(["recall", "--project", "opencode-project"], { dataDir, env });
    expect(asked.stdout).not.toContain("older");
  } finally {
    await stopServer(dataDir);
  }
  expect(await run(["opencode", "--no-capture", "--yes"], dataDir)).toMatchObject({ exitCode: 0 });
  expect(read(plugin)).toContain('const KINDS = ["recall"];');
  expect(await run(["opencode", "--remove", "--yes"], dataDir)).toMatchObject({ exitCode: 0 });
  expect(existsSync(at(plugin))).toBe(false);
}, 120_000);

test("the extension for Pi saves what was said, and recalls it in the next session", async () => {
  const { run, at, home, read } = homeWithAgents();
  const dataDir = join(temporaryFolder(), "data");
  await run(["pi", "--capture", "--recall", "--yes"], dataDir);
  const extension = ".pi/agent/extensions/ctxd.js";
  expect(read(extension)).toStartWith("// Written by ctxd connect pi;");
  const folder = join(home, "pi-project");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  // As Pi 1.5 passes them.
  const message = (role: string, content: unknown) => ({
    role,
    content,
    timestamp: 1_795_165_219_000,
  });
  const messages = [
    message("user", [{ type: "text", text: "Our mascot is a newt." }]),
    message("custom", "recalled before"),
    message("assistant", [{ type: "toolCall", id: "1", name: "read", arguments: {} }]),
    message("toolResult", [{ type: "text", text: "output of a tool" }]),
    message("assistant", [{ type: "text", text: "A fine newt." }]),
  ];
  const driver = at("driver.mjs");
  writeFileSync(
    driver,
    `import extension from ${JSON.stringify(at(extension))};
const handlers = {};
extension({ on: (name, handler) => (handlers[name] = handler) });
const of = (id) => ({ cwd: ${JSON.stringify(folder)}, sessionManager: { getSessionId: () => id } });
await handlers.agent_end({ messages: ${JSON.stringify(messages)} }, of("p-1"));
const prompt = "What is our mascot?";
const answer = await handlers.before_agent_start({ messageType: "user", prompt }, of("p-2"));
await handlers.before_agent_start({ messageType: "custom" }, of("p-3"));
console.log(JSON.stringify(answer ?? null));
`,
  );
  const { env } = program(dataDir);
  try {
    const { message } = await until("it is saved", async () => {
      const child = Bun.spawn([process.execPath, driver], {
        env,
        stdout: "pipe",
        stderr: "inherit",
      });
      const answer = JSON.parse(await child.stdout.text());
      return answer?.message.content.includes("Our mascot is a newt.") ? answer : null;
    });
    expect(message).toMatchObject({ customType: "ctxd", display: false });
    expect(message.content).not.toMatch(/output of a tool|recalled before/);
    const asked = await ctxd(["recall", "--project", "pi-project"], { dataDir, env });
    expect(asked.stdout).toContain("Assistant: A fine newt.");
  } finally {
    await stopServer(dataDir);
  }
  expect(await run(["pi", "--remove", "--yes"], dataDir)).toMatchObject({ exitCode: 0 });
  expect(existsSync(at(extension))).toBe(false);
}, 120_000);

test("the plugin for OpenClaw has a manifest and a setting, which go with it", async () => {
  const { run, read, put, exists, at } = homeWithAgents();
  const settings = ".openclaw/openclaw.json";
  const mine =
    '{\n  "plugins": {\n    "entries": {\n      "a": { "enabled": true }\n    }\n  }\n}\n';
  put(settings, mine);
  const folder = ".openclaw/extensions/ctxd";
  expect(await run(["openclaw", "--recall", "--yes"])).toMatchObject({ exitCode: 0 });
  const { plugins, mcp } = JSON.parse(read(settings));
  expect(mcp.servers.ctxd.args).toContain("openclaw");
  expect(plugins.entries).toEqual({
    a: { enabled: true },
    ctxd: { enabled: true, hooks: { allowConversationAccess: true } },
  });
  expect(JSON.parse(read(`${folder}/openclaw.plugin.json`))).toMatchObject({ id: "ctxd" });
  expect(JSON.parse(read(`${folder}/package.json`)).openclaw).toEqual({
    extensions: ["./index.js"],
  });
  expect((await run([])).stdout).toMatch(/^openclaw .* connected, recall /m);
  expect((await run(["openclaw", "--recall", "--yes"])).stderr).toContain("nothing to change");

  const events = async () => {
    const handlers: string[] = [];
    const { default: plugin } = await import(`${at(folder)}/index.js?${crypto.randomUUID()}`);
    plugin.register({ on: (name: string) => handlers.push(name) });
    return handlers;
  };
  expect(await events()).toEqual(["before_prompt_build"]);
  await run(["openclaw", "--capture", "--yes"]);
  expect(await events()).toEqual(["before_prompt_build", "agent_end"]);

  await run(["openclaw", "--no-recall", "--no-capture", "--yes"]);
  expect(exists(`${folder}/index.js`) || exists(`${folder}/openclaw.plugin.json`)).toBe(false);
  expect(JSON.parse(read(settings)).plugins.entries).toEqual({ a: { enabled: true } });
  await run(["openclaw", "--remove", "--yes"]);
  expect(JSON.parse(read(settings)).plugins).toEqual(JSON.parse(mine).plugins);
  // A setting that ctxd did not write is the person's.
  const other = mine.replace('"a": {', '"ctxd": {');
  put(settings, other);
  await run(["openclaw", "--yes"]);
  expect(JSON.parse(read(settings)).plugins).toEqual(JSON.parse(other).plugins);
});

test("another plugin of the same name is not replaced", async () => {
  const { run, read, put } = homeWithAgents();
  put(".config/opencode/plugins/ctxd.js", "export const mine = 1;\n");
  await run(["opencode", "--yes"]);
  await run(["opencode", "--remove", "--yes"]);
  expect(read(".config/opencode/plugins/ctxd.js")).toBe("export const mine = 1;\n");
});

test("--print shows the settings, including hooks", async () => {
  const { run, exists } = homeWithAgents();
  const { stdout, stderr } = await run(["codex", "--capture", "--print"]);
  expect(stdout).toContain('"Stop"');
  expect(stdout).not.toContain("SessionStart");
  expect(stderr).toContain("~/.codex/hooks.json");
  expect(exists(".codex/hooks.json")).toBe(false);
});

test("an agent with the plugin of ctxd counts as connected, and gets no second entry", async () => {
  const { run, put, exists } = homeWithAgents();
  const path = settingsOf("claude-code");
  put(path, '{ "enabledPlugins": { "ctxd@ctxd": true } }');
  expect((await run([])).stdout).toMatch(/claude-code .* connected, plugin /);
  const { exitCode, stderr } = await run(["claude-code", "--recall", "--yes"]);
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("Claude Code has the plugin ctxd"),
  });
  expect(await run(["--all", "--yes"])).toMatchObject({ exitCode: 0 });
  expect(exists(".claude.json")).toBe(false);
  expect(exists(".cursor/mcp.json")).toBe(true);

  put(path, '{ "enabledPlugins": { "ctxd@ctxd": false } }');
  expect(await run(["claude-code", "--yes"])).toMatchObject({ exitCode: 0 });
  expect(exists(".claude.json")).toBe(true);
});
