import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { dependencies } from "../../package.json" with { type: "json" };
import { SETTINGS } from "../../src/config/settings.ts";
import { program, serverOf, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { readLines } from "../support/lines.ts";

const Entry = Type.Object({ command: Type.String(), args: Type.Array(Type.String()) });
const Settings = Type.Object({
  mcpServers: Type.Object({ ctxd: Entry }),
});
const Hooks = Type.Object({
  hooks: Type.Object({
    SessionStart: Type.Array(
      Type.Object({ hooks: Type.Array(Type.Object({ command: Type.String() })) }),
    ),
  }),
});

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const home = join(root, "home");
const dataDir = join(root, "data");
const project = join(root, "wombat");
/** The file that the folder's code writes when it runs. */
const marker = join(root, "ran");
afterEach(async () => {
  await stopServer(dataDir);
  rmSync(root, { recursive: true, force: true });
});

/** A project with every file from which Bun reads code or settings in its working folder. */
function makeHostileProject() {
  const put = (path: string, text: string) => {
    mkdirSync(join(project, path, ".."), { recursive: true });
    writeFileSync(join(project, path), text);
  };
  const code = `require("node:fs").appendFileSync(${JSON.stringify(marker)}, __filename + "\\n");`;
  put("evil.ts", `${code}\nexport default 1;`);
  for (const name of ["bunfig.toml", ".bunfig.toml"]) {
    put(name, 'preload = ["./evil.ts"]\n[run]\npreload = ["./evil.ts"]\n');
  }
  // An unknown setting stops every command.
  const environment = `CTXD_HOSTILE=1\nCTXD_BACKUP_DIR=${join(root, "stolen")}\n`;
  for (const suffix of ["", ".local", ".development", ".production", ".test"]) {
    put(`.env${suffix}`, environment);
  }
  const paths = Object.fromEntries(
    ["*", "/*", "#pages/*", "./*"].map((each) => [each, ["./evil.ts"]]),
  );
  const compilerOptions = {
    jsx: "react",
    jsxFactory: "evil",
    jsxImportSource: "evil",
    baseUrl: ".",
    paths,
  };
  for (const name of ["tsconfig.json", "jsconfig.json"])
    put(name, JSON.stringify({ compilerOptions }));
  const script = join(import.meta.dir, "..", "..", "src", "main.ts");
  put(
    "package.json",
    JSON.stringify({
      name: "wombat",
      imports: { "#pages/*": "./evil.ts" },
      browser: { [script]: "./evil.ts" },
      bun: { preload: ["./evil.ts"] },
      scripts: { [script]: `touch ${marker}`, ctxd: `touch ${marker}` },
    }),
  );
  put(".npmrc", "registry=http://localhost:1/\n");
  for (const name of [...Object.keys(dependencies), "evil"]) {
    put(
      `node_modules/${name}/package.json`,
      JSON.stringify({ name, version: "99.0.0", main: "i.cjs" }),
    );
    put(`node_modules/${name}/i.cjs`, code);
  }
  mkdirSync(join(project, ".git"));
}

const env = { ...program(dataDir).env, HOME: home, PATH: process.env.PATH ?? "" };

async function runInProject(command: string[], input = "") {
  const child = Bun.spawn(command, {
    cwd: project,
    env,
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { stdout, stderr, exitCode: await child.exited };
}

/** The settings that `ctxd connect` wrote: the command of the agent, and its hook. */
async function connect() {
  mkdirSync(join(home, ".claude"), { recursive: true });
  const connected = await ctxd(["connect", "claude-code", "--hook", "--yes"], { dataDir, env });
  expect(connected).toMatchObject({ exitCode: 0 });
  const settings: unknown = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8"));
  const hooks: unknown = JSON.parse(readFileSync(join(home, ".claude", "settings.json"), "utf8"));
  if (!Value.Check(Settings, settings) || !Value.Check(Hooks, hooks))
    throw new Error("not written");
  return { agent: settings.mcpServers.ctxd, hook: hooks.hooks.SessionStart[0]?.hooks[0]?.command };
}

test("files of a project folder run no code in the programs that agents start there, and change no settings", async () => {
  makeHostileProject();
  const { agent, hook = "" } = await connect();

  const bridge = Bun.spawn([agent.command, ...agent.args], {
    cwd: project,
    env,
    stdin: "pipe",
    stdout: "pipe",
    stderr: "pipe",
  });
  const content = "The wombat project is built with make.";
  const params = { name: "save_memory", arguments: { content } };
  bridge.stdin.write(
    `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`,
  );
  bridge.stdin.flush();
  const { value: answer = "" } = await readLines(bridge.stdout).next();
  expect(answer).toContain("Saved as");
  // The bridge has started the server in the same folder.
  const server = serverOf(dataDir);
  if (process.platform === "linux") {
    expect(readFileSync(`/proc/${server}/environ`, "utf8")).not.toContain("HOSTILE");
  }

  const recalled = await runInProject(["sh", "-c", hook]);
  expect(recalled).toMatchObject({ exitCode: 0, stderr: "" });
  // The program still knows its working folder.
  expect(recalled.stdout).toContain(content);

  const [command = "", ...words] = [
    agent.command,
    ...agent.args.slice(0, agent.args.indexOf("mcp")),
  ];
  const help = await runInProject([command, ...words, "help"]);
  const [, typed = ""] = /Here, ctxd is: (.+)/.exec(help.stdout) ?? [];
  expect(typed).toContain("main.ts");
  expect(
    (await runInProject(["sh", "-c", `${typed} key list --data-dir ${dataDir}`])).exitCode,
  ).toBe(0);

  bridge.stdin.end();
  expect(await bridge.exited).toBe(0);
  expect(existsSync(marker)).toBe(false);
  expect(existsSync(join(root, "stolen"))).toBe(false);
});

test("the bridge warns an agent whose settings were written by an earlier version", async () => {
  mkdirSync(project, { recursive: true });
  const source = join(import.meta.dir, "..", "..", "src", "main.ts");
  const { stderr } = await runInProject([process.execPath, source, "mcp", "--data-dir", dataDir]);
  expect(stderr).toMatch(
    /^ctxd: the settings of this folder may have changed which program runs.*connect/,
  );
});

test("the documented commands for a checkout make Bun read the checkout's own files", async () => {
  expect(SETTINGS).not.toHaveProperty("CTXD_HOSTILE");
  const folder = join(import.meta.dir, "..", "..");
  const text = await Bun.file(join(folder, "src/help/agents.md")).text();
  const commands = [...text.matchAll(/`[^`]*src\/main\.ts[^`]*`/g)].map(([command]) => command);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    expect(command).toContain("--config=/path/to/ctxd/bunfig.toml");
    expect(command).toContain("--tsconfig-override=/path/to/ctxd/tsconfig.json");
  }
});
