import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "../../src/connect/client.ts";
import { findClient } from "../../src/connect/clients.ts";
import { checkAgents } from "../../src/doctor/agents.ts";
import { isRunning } from "../../src/system/processes.ts";
import { temporaryFolder } from "../support/database.ts";
import { until } from "../support/until.ts";

const unixOnly = describe.skipIf(process.platform === "win32");

function client(id: string): Client {
  const found = findClient(id);
  if (!found) throw new Error(`no client ${id}`);
  return found;
}

/** A folder with programs, each a script of the shell. */
function programs(scripts: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  for (const [name, script] of Object.entries(scripts)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const env = { PATH: `${folder}:/usr/bin:/bin`, FOLDER: folder };
  const check = async (ids: readonly string[], timeoutMs = 20_000) => {
    const surroundings = { env, home: folder, timeoutMs };
    return Array.fromAsync(checkAgents(ids.map(client), surroundings));
  };
  return { folder, env, check };
}

/** Prints an answer without interpreting it. */
const printing = (answer: string) => `cat <<'END'\n${answer}\nEND`;
const OPTIONS = "--config=/failed/bunfig.toml mcp --agent x";

unixOnly("an agent's answer is understood:", () => {
  test.each([
    [
      "claude-code",
      `Checking…\n\nctxd: /error/ctxd ${OPTIONS} - ✔ Connected`,
      "ok",
      "reaches ctxd",
    ],
    [
      "claude-code",
      "o: x - ✔ Connected\nctxd: /x mcp - ✘ Failed to connect\no: x",
      "problem",
      "(“ctxd: mcp - ✘ Failed to connect”)",
    ],
    ["claude-code", "ctxd: https://a (HTTP) - ! Needs authentication", "warning", "type /mcp and"],
    ["claude-code", "No MCP servers configured.", "warning", "does not list ctxd"],
    ["claude-code", "plugin:ctxd:ctxd: ctxd mcp - ✔ Connected", "ok", "reaches ctxd"],
    ["codex", `Name  Status\nctxd  /a/ctxd  ${OPTIONS}  enabled  Unsupported`, "ok", "lists ctxd"],
    ["codex", "ctxd  https://a  -  enabled  Not logged in", "warning", "run codex mcp login ctxd"],
    ["codex", "ctxd  /a/ctxd  mcp  disabled  Unsupported", "warning", "switched off"],
    ["gemini", `\u001b[32m✓\u001b[0m ctxd: /a ${OPTIONS} (stdio) - Connected`, "ok", "reaches"],
    [
      "gemini",
      `✗ ctxd: /a ${OPTIONS} (stdio) - Disconnected`,
      "problem",
      "ctxd connect gemini again",
    ],
    ["gemini", "✗ ctxd: https://a/mcp (http) - Disconnected", "problem", "type /mcp auth ctxd, or"],
    ["opencode", "●  ✓ ctxd \u001b[90mconnected\n│      npx -y ctxd mcp", "ok", "reaches"],
    ["opencode", "●  ✗ ctxd failed\n│      ENOENT: no such file", "problem", "ENOENT: no such"],
    ["opencode", "●  ⚠ ctxd needs authentication", "warning", "opencode mcp auth ctxd"],
    ["copilot-cli", "User servers:\n  ctxd (local)", "ok", "lists ctxd, without trying"],
    ["openclaw", "MCP probe (/a/b.json):\n- ctxd: 7 tools, resources", "ok", "reaches ctxd"],
    [
      "openclaw",
      '! ctxd: MCP server "ctxd" requires OAuth authorization.',
      "warning",
      "has to sign in to ctxd: run openclaw mcp login ctxd",
    ],
    [
      "openclaw",
      "! ctxd: MCP error -32000: Connection closed",
      "problem",
      "connect openclaw again",
    ],
    [
      "copilot-cli",
      "User servers:\n  my-ctxd (local)\n  other /opt/ctxd",
      "warning",
      "does not list",
    ],
  ] as const)("%s: %s", async (id, answer, state, message) => {
    const [program = ""] = client(id).checkCommand?.split(" ").slice(-3) ?? [];
    const [finding] = await programs({ [program]: printing(answer) }).check([id]);
    expect(finding).toEqual({ check: "agent", state, message: expect.stringContaining(message) });
    expect(finding?.message).toStartWith(client(id).name);
  });

  test("with the words and variables of its row, in the home folder, and without a terminal", async () => {
    const { folder, check } = programs({
      gemini: "env > $FOLDER/env; pwd >> $FOLDER/env; echo ctxd: connected $* $(tty)",
    });
    await check(["gemini"]);
    const env = readFileSync(join(folder, "env"), "utf8");
    expect(env).toContain("GEMINI_CLI_TRUST_WORKSPACE=true\n");
    expect(env).toContain("NO_COLOR=1\n");
    expect(env).toEndWith(`${folder}\n`);
    const [finding] = await programs({ gemini: "echo ctxd failed $* $(tty) $(wc -c)" }).check([
      "gemini",
    ]);
    expect(finding?.message).toContain("“ctxd failed mcp list not a tty 0”");
  });
});

unixOnly("an agent can't hold up, flood or deceive the doctor:", () => {
  test("one that is not installed, and one without a command, are not run", async () => {
    const findings = await programs({}).check(["claude-code", "cursor"]);
    expect(findings).toEqual([
      {
        check: "agent",
        state: "ok",
        message: "Claude Code is connected, and claude is not installed here",
      },
      {
        check: "agent",
        state: "ok",
        message: "Cursor is connected, and has no command that checks it",
      },
    ]);
    expect(await programs({}).check([])).toMatchObject([{ check: "agents", state: "ok" }]);
  });

  test("a program in a folder that is relative to the current one is not run", async () => {
    const { folder, env } = programs({ claude: "touch $FOLDER/ran; echo ctxd: connected" });
    const PATH = `.:${folder.slice(1)}::`;
    const before = process.cwd();
    process.chdir(folder);
    try {
      const surroundings = { env: { ...env, PATH }, home: folder };
      const [finding] = await Array.fromAsync(checkAgents([client("claude-code")], surroundings));
      expect(finding?.message).toContain("is not installed here");
      expect(existsSync(join(folder, "ran"))).toBe(false);
    } finally {
      process.chdir(before);
    }
  });

  test("those that never end, ignore signals, and leave processes behind", async () => {
    const { folder, check } = programs({
      claude:
        'trap "" TERM; sleep 1000 & echo $! >> $FOLDER/pids; echo $$ >> $FOLDER/pids; wait; while :; do sleep 1; done',
      codex: "sleep 1000 & echo $! >> $FOLDER/pids; echo 'ctxd  mcp  enabled'; wait",
      gemini: "sleep 1000 & echo $! >> $FOLDER/left; echo 'ctxd: x - Connected'",
      qwen: "exec >/dev/null 2>&1; sleep 1000",
    });
    const findings = await check(["claude-code", "codex", "gemini", "qwen"], 1_000);
    expect(findings.map(({ state, message }) => [state, message])).toEqual([
      ["warning", "Claude Code does not answer: claude mcp list did not end in 1 s."],
      ["ok", "Codex lists ctxd, without trying to reach it"],
      ["ok", "Gemini CLI reaches ctxd"],
      ["warning", "Qwen Code does not answer: qwen mcp list did not end in 1 s."],
    ]);
    const pids = readFileSync(join(folder, "pids"), "utf8").trim().split("\n").map(Number);
    expect(pids).toHaveLength(3);
    await until("all have ended", async () => !pids.some(isRunning) || null);
    // What a program leaves behind of its own will is its own matter.
    process.kill(Number(readFileSync(join(folder, "left"), "utf8")));
  });

  test("none waits for another", async () => {
    const after = (own: string, other: string) =>
      `touch $FOLDER/${own}; until [ -e $FOLDER/${other} ]; do sleep 0.02; done; echo ctxd: connected`;
    const { check } = programs({ claude: after("a", "b"), codex: after("b", "a") });
    const findings = await check(["claude-code", "codex"]);
    expect(findings.map(({ message }) => message)).toEqual([
      "Claude Code reaches ctxd",
      "Codex reaches ctxd",
    ]);
  });

  test("one that prints without end", async () => {
    const { check } = programs({
      claude: "yes x",
      codex: "yes 'ctxd: - failed'",
      qwen: "cat /dev/zero",
    });
    const findings = await check(["claude-code", "codex", "qwen"]);
    expect(findings.map(({ message }) => message)).toEqual([
      "Claude Code does not answer: claude mcp list prints too much.",
      "Codex can't reach ctxd (“ctxd: - failed”): run ctxd connect codex again.",
      "Qwen Code does not answer: qwen mcp list prints too much.",
    ]);
  });

  test("one that fails, prints escape sequences, a key and no text, or is no program", async () => {
    const key = `ctx_${"a".repeat(40)}`;
    const { folder, check } = programs({
      claude: `printf 'oops \\033]0;title\\007 \\033[2J \\001 \\342\\200\\256 ${key} '; head -c 500 /dev/zero | tr '\\0' z; exit 1`,
      codex: "printf '\\377\\376 ctxd - failed \\033[31m \\377'",
      qwen: "exit 3",
    });
    writeFileSync(join(folder, "opencode"), "#!/nonexistent\n", { mode: 0o755 });
    const findings = await check(["claude-code", "codex", "qwen", "opencode"]);
    const messages = findings.map(({ message }) => message);
    expect(messages[0]).toMatch(/^Claude Code does not answer: .* failed \(“oops .*z…”\)\.$/);
    expect(messages[0]).toContain("\\u{1} \\u{202e} ctx_aaaa…");
    expect(messages[1]).toContain("can't reach ctxd");
    expect(messages[2]).toContain("failed (it printed nothing)");
    expect(messages[3]).toContain("can't be started (");
    for (const message of messages) {
      expect(message).not.toMatch(/[\p{Cc}\u202e]/u);
      expect(message).not.toContain(key);
      expect(message.length).toBeLessThan(300);
    }
  });
});
