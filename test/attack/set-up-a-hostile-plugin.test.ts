import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getMcpConfigForManifest, MANIFEST_SCHEMAS, unpackExtension } from "@anthropic-ai/mcpb";
import { make as makePlugin } from "../../src/build/release/claude-plugin/claude-plugin.ts";
import { make as makeBundles } from "../../src/build/release/mcpb.ts";
import { program, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { connectProgram, shownIn } from "../support/mcp.ts";

/** Milliseconds after which an agent kills a hook. */
const PATIENCE = 10_000;
const REPOSITORY = "https://github.com/owner/ctxd";

const home = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const dataDir = join(home, "data");
/** Exists when a text became a command. */
const mark = join(home, "mark");
const env = {
  ...program(dataDir).env,
  PATH: `${join(home, "bin")}:${process.env.PATH}`,
  CTXD_DATA_DIR: dataDir,
};
let hooks: Record<string, { hooks: { command: string; timeout: number }[] }[]>;

beforeAll(async () => {
  const { command, args } = program(dataDir);
  mkdirSync(join(home, "bin"));
  writeFileSync(join(home, "bin", "ctxd"), `#!/bin/sh\nexec '${command}' '${args[0]}' "$@"\n`);
  chmodSync(join(home, "bin", "ctxd"), 0o755);
  const release = { version: "1.2.3", repository: REPOSITORY, executables: {}, out: home };
  const [archive = ""] = await makePlugin(release);
  await unpackExtension({ mcpbPath: archive, outputDir: join(home, "plugin"), silent: true });
  ({ hooks } = await Bun.file(join(home, "plugin", "hooks", "hooks.json")).json());
}, 120_000);
afterAll(async () => {
  await stopServer(dataDir);
  rmSync(home, { recursive: true, force: true });
});

const commandFor = (event: string) => hooks[event]?.[0]?.hooks[0]?.command ?? "";

/** Runs a hook as Claude Code does: by a shell, and until its patience ends. */
async function runHook(
  event: string,
  input: string | Blob,
  settings: Record<string, string> = {
    CLAUDE_PLUGIN_OPTION_RECALL: "true",
    CLAUDE_PLUGIN_OPTION_CAPTURE: "true",
  },
) {
  const child = Bun.spawn(["sh", "-c", commandFor(event)], {
    stdin: typeof input === "string" ? new Blob([input]) : input,
    stdout: "pipe",
    stderr: "pipe",
    timeout: PATIENCE,
    killSignal: "SIGKILL",
    env: { ...env, ...settings },
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

const HOSTILE = [
  `$(touch ${mark})`,
  `\`touch ${mark}\``,
  `true; touch ${mark}`,
  `"; touch ${mark}; "`,
  `'; touch ${mark}; '`,
  `true\ntouch ${mark}`,
  `\\'; touch ${mark} #`,
  "true --data-dir /elsewhere",
  "TRUE",
];

test.each(HOSTILE)(
  "a setting of the plugin is no command and switches nothing on: %j",
  async (value) => {
    const settings = { CLAUDE_PLUGIN_OPTION_RECALL: value, CLAUDE_PLUGIN_OPTION_CAPTURE: value };
    const turns = [{ role: "user", content: "Heron is the staging server." }];
    const event = JSON.stringify({ session_id: "s", hook_event_name: "Stop", turns });
    const silent = { stdout: "", stderr: "", exitCode: 0 };
    expect(await runHook("Stop", event, settings)).toEqual(silent);
    expect(await runHook("SessionStart", event, settings)).toEqual(silent);
    expect(existsSync(mark)).toBe(false);
    expect(existsSync(dataDir)).toBe(false);
  },
);

test
  .skipIf(process.platform === "win32")
  .each([...HOSTILE, "two words", "-rf", "ends with a backslash\\"])(
  "a data folder is one argument of the hooks that ctxd connect writes: %j",
  async (name) => {
    const place = mkdtempSync(join(home, "place-"));
    mkdirSync(join(place, ".claude"));
    const folder = join(place, name.replaceAll(mark, "mark").replaceAll("/", "-"));
    const options = ["--capture", "--recall", "--yes"];
    const { exitCode, stderr } = await ctxd(["connect", "claude-code", ...options], {
      dataDir: folder,
      env: { HOME: place, CTXD_PORT: "0" },
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    const settings = await Bun.file(join(place, ".claude", "settings.json")).json();
    const command: string = settings.hooks.Stop[0].hooks[0].command;
    const split = 'eval "set -- $1"; printf "%s\\0" "$@"';
    const { stdout } = Bun.spawnSync(["sh", "-c", split, "sh", command], { cwd: place });
    const words = ["capture", "--agent", "claude-code", "--data-dir", folder, ""];
    expect(stdout.toString().split("\0").slice(-words.length)).toEqual(words);
    expect(existsSync(join(place, "mark"))).toBe(false);
  },
);

test("a bundle takes no settings, and gives none to a shell", async () => {
  const out = mkdtempSync(join(home, "bundle-"));
  const executable = join(out, "program");
  writeFileSync(executable, "");
  const repository = `https://github.com/o"; touch ${mark}; "/\${user_config.x}`;
  const release = { version: "1.2.3", repository, executables: { "linux-x64": executable }, out };
  const [mcpbPath = ""] = await makeBundles(release);
  const outputDir = join(out, `un$(touch ${mark.replaceAll("/", "-")})packed`);
  await unpackExtension({ mcpbPath, outputDir, silent: true });
  const json: unknown = await Bun.file(join(outputDir, "manifest.json")).json();
  const manifest = MANIFEST_SCHEMAS["0.3"].parse(json);
  const config = await getMcpConfigForManifest({
    manifest,
    extensionPath: outputDir,
    systemDirs: {},
    userConfig: { url: HOSTILE, data_dir: HOSTILE },
    pathSeparator: "/",
  });
  expect(config).toEqual({
    command: join(outputDir, "server", "ctxd"),
    args: ["mcp", "--agent", "claude-desktop"],
    env: { CTXD_INSTALLED_BY: "mcpb" },
  });
});

describe("with hostile input the hooks end in time, without an error and without a text", () => {
  beforeAll(async () => {
    const { mcpServers } = await Bun.file(join(home, "plugin", ".mcp.json")).json();
    const { command, args } = mcpServers.ctxd;
    await using agent = await connectProgram("v1", { command, args, env, cwd: home });
    await agent.call("save_memory", { content: "Heron is the staging server." });
    Bun.spawnSync(["mkfifo", join(home, "pipe.jsonl"), join(home, "pipe.jsonl.zst")]);
    symlinkSync("/etc/shadow", join(home, "link.jsonl"));
  }, 120_000);

  const event = (fields: object) =>
    JSON.stringify({ session_id: "s", hook_event_name: "Stop", cwd: home, ...fields });
  const deep = `${"[".repeat(1e5)}${"]".repeat(1e5)}`;

  test.each<[string, () => string | Blob]>([
    ["ten megabytes", () => event({ prompt: "x".repeat(10 << 20) })],
    ["endless zeros", () => Bun.file("/dev/zero")],
    ["nested lists", () => `{"session_id":"s","transcript_path":"/nonexistent","x":${deep}}`],
    ["a nested turn", () => `{"turns":[{"role":"user","content":"a","x":${deep}}]}`],
    ["a prototype", () => '{"__proto__":{"turns":[{"role":"user","content":"polluted"}]}}'],
    ["no object", () => "[]"],
    ...["/dev/zero", "/dev/stdin", "/proc/self/mem", "/proc/self/pagemap", home].map(
      (path): [string, () => string] => [path, () => event({ transcript_path: path })],
    ),
    ...["pipe.jsonl", "pipe.jsonl.zst", "link.jsonl", "\0", "a\nb"].map(
      (name): [string, () => string] => [
        JSON.stringify(name),
        () => event({ transcript_path: join(home, name) }),
      ],
    ),
    ["a path of megabytes", () => event({ transcript_path: `/${"x".repeat(2 << 20)}` })],
    ["a pipe as its folder", () => event({ cwd: join(home, "pipe.jsonl"), prompt: "x" })],
  ])("%s", async (_, make) => {
    for (const name of ["Stop", "UserPromptSubmit"]) {
      const { stdout, stderr, exitCode } = await runHook(name, make());
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
      expect(stderr).toMatch(/^(ctxd: nothing was (captured|recalled): [^\n]{1,300}\n)?$/);
      expect(stderr).not.toContain("call stack");
      expect(stdout).not.toContain("polluted");
    }
    expect(readdirSync(dataDir).filter((each) => each.startsWith(".hook-"))).toEqual([]);
  });

  test("and the server answers, and has saved nothing of them", async () => {
    const { mcpServers } = await Bun.file(join(home, "plugin", ".mcp.json")).json();
    const { command, args } = mcpServers.ctxd;
    await using agent = await connectProgram("v1", { command, args, env, cwd: home });
    const saved = shownIn(await agent.call("list_memories", {})).map(({ content }) => content);
    expect(saved).toEqual(["Heron is the staging server."]);
  });
});
