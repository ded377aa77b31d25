import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackExtension } from "@anthropic-ai/mcpb";
import { version } from "../../package.json" with { type: "json" };
import { make } from "../../src/build/release/claude-plugin/claude-plugin.ts";
import { findClient } from "../../src/connect/clients.ts";
import { writeHooks } from "../../src/connect/hooks.ts";
import { program, stopServer } from "../support/bridge.ts";
import { connectProgram, shownIn } from "../support/mcp.ts";
import { claudeCodeLines, writeTranscript } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const REPOSITORY = "https://github.com/owner/ctxd";

const home = mkdtempSync(join(tmpdir(), "ctxd-plugin-"));
const dataDir = join(home, "data");
const plugin = join(home, "plugin");
/** The environment of a plugin's programs in Claude Code, with this checkout as `ctxd`. */
const env = {
  ...program(dataDir).env,
  PATH: `${join(home, "bin")}:${process.env.PATH}`,
  CTXD_DATA_DIR: dataDir,
};

beforeAll(async () => {
  const { command, args } = program(dataDir);
  const [main = ""] = args;
  mkdirSync(join(home, "bin"));
  const ctxd = join(home, "bin", "ctxd");
  writeFileSync(ctxd, `#!/bin/sh\nexec '${command}' '${main}' "$@"\n`);
  chmodSync(ctxd, 0o755);
  const release = { version, repository: REPOSITORY, executables: {}, out: home };
  const [archive = ""] = await make(release);
  // Claude Code accepts any ZIP archive.
  expect(await unpackExtension({ mcpbPath: archive, outputDir: plugin, silent: true })).toBe(true);
});

afterAll(async () => {
  await stopServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

const read = (name: string) => Bun.file(join(plugin, name)).json();

async function runHook(command: string, options: Record<string, string>, input: object) {
  const child = Bun.spawn(["sh", "-c", command], {
    stdin: new Blob([JSON.stringify(input)]),
    stdout: "pipe",
    stderr: "pipe",
    env: { ...env, ...options },
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

test("the plugin's archive is a marketplace that lists the plugin in this version", async () => {
  expect(await read(".claude-plugin/plugin.json")).toMatchObject({
    name: "ctxd",
    version,
    repository: REPOSITORY,
    author: { name: "owner" },
  });
  const { owner, plugins } = await read(".claude-plugin/marketplace.json");
  expect(owner).toEqual({ name: "owner" });
  expect(plugins).toMatchObject([{ name: "ctxd", source: "./" }]);
});

test("the repository's marketplace refers to the plugin's folder", async () => {
  const root = join(import.meta.dir, "..", "..");
  const file = join(root, ".claude-plugin", "marketplace.json");
  const { plugins } = await Bun.file(file).json();
  for (const { name, source } of plugins) {
    const manifest = Bun.file(join(root, source, ".claude-plugin", "plugin.json"));
    expect(await manifest.json()).toMatchObject({ name });
  }
});

const claude = Bun.which("claude");
test.skipIf(!claude)(
  "Claude Code, where it is installed, finds nothing wrong in the archive",
  () => {
    const { exitCode, stdout } = Bun.spawnSync(
      ["claude", "plugin", "validate", "--strict", plugin],
      {
        env: { HOME: home, PATH: process.env.PATH ?? "", DISABLE_AUTOUPDATER: "1" },
      },
    );
    expect({ exitCode, output: stdout.toString() }).toMatchObject({ exitCode: 0 });
  },
);

test("the plugin has hooks for the same events as ctxd connect", async () => {
  const wanted = findClient("claude-code")?.hooks;
  if (!wanted) throw new Error("there is no agent claude-code");
  const settings = writeHooks(wanted, "", {
    recall: "ctxd recall --agent claude-code --if CLAUDE_PLUGIN_OPTION_RECALL",
    capture: "ctxd capture --agent claude-code --if CLAUDE_PLUGIN_OPTION_CAPTURE",
  });
  const { hooks } = await read("hooks/hooks.json");
  expect(hooks).toEqual(JSON.parse(settings).hooks);
  // Every setting is off by default.
  const { userConfig } = await read(".claude-plugin/plugin.json");
  expect(userConfig).toMatchObject({ recall: { default: false }, capture: { default: false } });
});

test("the hooks save and recall only if the plugin's settings say so", async () => {
  const { mcpServers } = await read(".mcp.json");
  const { command, args } = mcpServers.ctxd;
  await using agent = await connectProgram("v1", { command, args, env, cwd: home });
  const { hooks } = await read("hooks/hooks.json");
  const [capture, recall] = [hooks.Stop, hooks.SessionStart].map(
    ([{ hooks: list }]) => list[0].command,
  );
  const session = "plugin-1";
  const turns = [{ user: "We call the staging server heron.", assistant: "Noted, heron." }];
  const transcript_path = writeTranscript(
    join(home, "session.jsonl"),
    claudeCodeLines(session, home, turns),
  );
  const ends = { session_id: session, transcript_path, cwd: home, hook_event_name: "Stop" };
  const silent = { stdout: "", stderr: "", exitCode: 0 };
  const savedTexts = async () =>
    shownIn(await agent.call("list_memories", { session_id: session })).map((one) => one.content);

  expect(await runHook(capture, {}, ends)).toEqual(silent);
  expect(await runHook(capture, { CLAUDE_PLUGIN_OPTION_CAPTURE: "false" }, ends)).toEqual(silent);
  expect(await savedTexts()).toEqual([]);
  expect(await runHook(capture, { CLAUDE_PLUGIN_OPTION_CAPTURE: "true" }, ends)).toEqual(silent);
  await until("the messages are saved", async () => (await savedTexts()).length === 2);

  const begins = { session_id: "2", cwd: home, hook_event_name: "SessionStart", source: "startup" };
  expect(await runHook(recall, {}, begins)).toEqual(silent);
  const { stdout } = await runHook(recall, { CLAUDE_PLUGIN_OPTION_RECALL: "true" }, begins);
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain("heron");
});
