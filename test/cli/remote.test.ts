import { afterAll, describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { keepUnsent } from "../../src/capture/unsent.ts";
import { findClient } from "../../src/connect/clients.ts";
import { readEntry } from "../../src/connect/entry.ts";
import { createClient } from "../support/client.ts";
import { commandLine, ctxd } from "../support/command-line.ts";
import { freePort } from "../support/free-port.ts";
import { type Machine, newMachine } from "../support/machine.ts";
import { connectProgram } from "../support/mcp.ts";
import { addAccountTo, serving } from "../support/server-process.ts";
import { claudeCodeLines, toLines, writeTranscript } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

// These start a server that loads the model, and programs.

const dataDir = mkdtempSync(join(tmpdir(), "ctxd-test-"));
const port = freePort();
const origin = `http://127.0.0.1:${port}`;
const start = () => serving(dataDir, {}, ["--port", `${port}`]);
let server = await start();
const { key } = await addAccountTo(dataDir);
const { list } = createClient(origin, key);
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(dataDir, { recursive: true });
});

const SILENT = { stdout: "", stderr: "", exitCode: 0 };
const SAID = [{ user: "We call the staging server heron.", assistant: "Noted, heron." }];
const TEXTS = ["User: We call the staging server heron.", "Assistant: Noted, heron."];

const URL_FLAG = ["--url", origin];
const CAPTURE = ["capture", "--agent", "claude-code", ...URL_FLAG];
const RECALL = ["recall", "--agent", "claude-code", ...URL_FLAG];

/** The memories of a session, the oldest first. */
const savedIn = async (session_id: string) =>
  (await list({ session_id, limit: 100 })).memories.toReversed();

/** Waits until these memories of a session are saved, and checks that there are no others. */
async function untilSaved(session: string, contents: readonly string[]) {
  const saved = await until(`${contents.length} memories of ${session}`, async () => {
    const memories = await savedIn(session);
    return memories.length >= contents.length && memories;
  });
  expect(saved.map(({ content }) => content)).toEqual([...contents]);
  return saved;
}

const untilSent = (machine: Machine) =>
  until("nothing is left to send", () => readdirSync(machine.kept(origin, "unsent")).length === 0);

/** The end of a turn in a session whose transcript is complete. */
function stopOf(machine: Machine, session: string, said = SAID) {
  const cwd = machine.repository(`${session}-project`);
  const path = writeTranscript(
    join(machine.home, `${session}.jsonl`),
    claudeCodeLines(session, cwd, said),
  );
  return { session_id: session, transcript_path: path, cwd, hook_event_name: "Stop" };
}

const startOf = (session_id: string, cwd: string) => ({
  ...{ session_id, cwd, hook_event_name: "SessionStart", source: "startup" },
});

/** A machine whose Claude Code is connected to the server. */
async function connected(...options: string[]) {
  const machine = newMachine();
  const { exitCode, stderr } = await machine.connect("claude-code", origin, key, ...options);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return machine;
}

/** Runs `ctxd mcp` as an agent does. */
const agentOf = ({ dataDir, env }: Machine, cwd: string) => {
  const [command = "", ...args] = commandLine(["mcp", "--agent", "helper", ...URL_FLAG], {
    dataDir,
  });
  return connectProgram("v1", { command, args, env, cwd });
};

test("what an agent saves has the project of its folder, its session and its name", async () => {
  const machine = await connected();
  const cwd = machine.repository("atlas");
  await using agent = await agentOf(machine, cwd);
  expect((await agent.tools()).length).toBe(7);
  const saved = await agent.call("save_memory", { content: "The lighthouse opens at nine." });
  expect(saved).toMatchObject({ isError: false });
  const { memories } = await list({ project: "atlas" });
  expect(memories).toMatchObject([
    { content: "The lighthouse opens at nine.", project: "atlas", agent_id: "helper" },
  ]);
  expect(memories[0]?.session_id).toStartWith("session_");
  const found = await agent.call("search_memories", { query: "when does the lighthouse open?" });
  expect(found.text).toContain("opens at nine");
  await using other = await agentOf(machine, machine.repository("boreas"));
  const elsewhere = await other.call("search_memories", {
    query: "when does the lighthouse open?",
  });
  expect(elsewhere.text).not.toContain("opens at nine");
});

test("connect writes a bridge and hooks; the key is in no settings, arguments and messages", async () => {
  const machine = newMachine();
  const options = ["--recall", "--capture"];
  const { stdout, stderr, exitCode } = await machine.connect(
    "claude-code",
    origin,
    key,
    ...options,
  );
  expect(exitCode).toBe(0);
  expect(stderr).toContain(`Claude Code is connected to ${origin}: start a new session.`);
  expect(stdout + stderr).not.toContain(key);
  const settings = [".claude.json", ".claude/settings.json"].map((name) =>
    readFileSync(join(machine.home, name), "utf8"),
  );
  for (const text of settings) expect(text).not.toContain("ctx_");
  const client = findClient("claude-code");
  const entry = client && readEntry(client, settings[0] ?? "");
  expect(entry?.args).toEqual(
    expect.arrayContaining(["mcp", "--agent", "claude-code", ...URL_FLAG]),
  );
  for (const kind of ["recall", "capture"]) {
    expect(settings[1]).toContain(`${kind} --agent claude-code --url ${origin}`);
  }
  expect(readFileSync(machine.kept(origin, "key"), "utf8")).toBe(`${key}\n`);
  expect(statSync(machine.kept(origin, "key")).mode & 0o777).toBe(0o600);
  expect(statSync(machine.kept(origin)).mode & 0o777).toBe(0o700);

  // A second agent needs no key. It goes with the last one.
  const endpoint = ["--url", `${origin}/mcp`];
  const second = await machine.run(["connect", "codex", ...endpoint, "--recall", "--yes"]);
  expect(second).toMatchObject({ exitCode: 0 });
  const one = await machine.run(["connect", "claude-code", "--remove", "--yes"]);
  expect(one.stderr).not.toContain("no longer kept");
  expect(existsSync(machine.kept(origin, "key"))).toBe(true);
  const two = await machine.run(["connect", "codex", "--remove", "--yes"]);
  expect(two.stderr).toContain(`The API key for ${origin} is no longer kept on this machine.`);
  expect(readdirSync(machine.dataDir)).toEqual([]);
});

test("the settings that connect writes work: what Claude Code runs in a shell saves and recalls", async () => {
  const machine = await connected("--recall", "--capture");
  const { hooks } = JSON.parse(readFileSync(join(machine.home, ".claude/settings.json"), "utf8"));
  const run = async (event: string, input: object) => {
    const { command } = hooks[event][0].hooks[0];
    const child = Bun.spawn(["sh", "-c", command], {
      stdin: new Blob([JSON.stringify(input)]),
      stdout: "pipe",
      stderr: "pipe",
      env: machine.env,
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { stdout, stderr, exitCode: await child.exited };
  };
  const stop = stopOf(machine, "shell-1");
  expect(await run("Stop", stop)).toEqual(SILENT);
  await untilSaved("shell-1", TEXTS);
  const begins = await run("SessionStart", startOf("shell-2", stop.cwd));
  expect(JSON.parse(begins.stdout).hookSpecificOutput.additionalContext).toContain("heron");
});

test("new turns of a transcript are saved, with project, session and source, and recalled", async () => {
  const machine = await connected();
  const stop = stopOf(machine, "turns-1");
  const lines = toLines(claudeCodeLines("turns-1", stop.cwd, SAID));
  writeFileSync(stop.transcript_path, lines.slice(0, lines.length / 2));
  expect(await machine.hook(CAPTURE, stop)).toEqual(SILENT);
  appendFileSync(stop.transcript_path, lines.slice(lines.length / 2));
  expect(await machine.hook(CAPTURE, stop)).toEqual(SILENT);
  for (const memory of await untilSaved("turns-1", TEXTS)) {
    expect(memory).toMatchObject({
      project: "turns-1-project",
      agent_id: "claude-code",
      source: { via: "capture", by: "test" },
    });
  }
  const { stdout, exitCode } = await machine.hook(RECALL, startOf("turns-2", stop.cwd));
  expect(exitCode).toBe(0);
  expect(JSON.parse(stdout).hookSpecificOutput.additionalContext).toContain("heron");
  const elsewhere = startOf("turns-3", machine.repository("elsewhere"));
  expect((await machine.hook(RECALL, elsewhere)).stdout).not.toContain("heron");
  expect(
    (await machine.run(["recall", "--project", "turns-1-project", ...URL_FLAG])).stdout,
  ).toContain("heron");
});

test("two agents and another one's turns at once: each is saved once", async () => {
  const machine = await connected();
  const sessions = ["both-1", "both-2", "both-3"];
  const stops = sessions.map((session) => stopOf(machine, session));
  const cursor = {
    ...{ conversation_id: "both-4", generation_id: "g", workspace_roots: [machine.home] },
    ...{ hook_event_name: "beforeSubmitPrompt", prompt: "Our mascot is a newt." },
  };
  const words = ["capture", "--agent", "cursor", ...URL_FLAG];
  const all = [...stops, ...stops].map((stop) => machine.hook(CAPTURE, stop));
  for (const ran of await Promise.all([...all, machine.hook(words, cursor)])) {
    expect(ran).toEqual(SILENT);
  }
  for (const session of sessions) await untilSaved(session, TEXTS);
  await untilSaved("both-4", ["User: Our mascot is a newt."]);
  await untilSent(machine);
});

test("a key that may not save captures nothing, and what it can't save does not pile up", async () => {
  const words = [
    "key",
    "create",
    "--user",
    "you@example.com",
    "--name",
    "reader",
    "--scope",
    "read",
  ];
  const { stdout: reader } = await ctxd(words, { dataDir });
  const machine = newMachine();
  expect(await machine.connect("claude-code", origin, reader.trim())).toMatchObject({
    exitCode: 0,
  });
  const stop = stopOf(machine, "reader-1");
  expect(await machine.hook(CAPTURE, stop)).toEqual(SILENT);
  await untilSent(machine);
  expect(await savedIn("reader-1")).toEqual([]);
});

describe("while the server is away", () => {
  test("hooks are silent, what was said arrives when it is back, in order and once", async () => {
    const machine = await connected();
    await server[Symbol.asyncDispose]();
    const said = [1, 2, 3].map((n) => ({ user: `Ask number ${n}`, assistant: `Say number ${n}` }));
    const stop = stopOf(machine, "away-1", said);
    try {
      expect(await machine.hook(RECALL, startOf("away-0", stop.cwd))).toEqual(SILENT);
      expect(await machine.hook(CAPTURE, stop)).toEqual(SILENT);
      // The server never sees a file of this machine, so nothing but its path is kept.
      const [name = ""] = readdirSync(machine.kept(origin, "unsent"));
      const path = machine.kept(origin, "unsent", name);
      expect(statSync(path).mode & 0o777).toBe(0o600);
      expect(readFileSync(path, "utf8")).not.toContain("number");
    } finally {
      server = await start();
    }
    // The process that the hook has started tries again by itself.
    const all = said.flatMap(({ user, assistant }) => [`User: ${user}`, `Assistant: ${assistant}`]);
    await untilSaved("away-1", all);
    await untilSent(machine);
    expect(await savedIn("away-1")).toHaveLength(6);
  });

  test("a bridge that is there, and one that begins, have the tools, say so in one sentence, and go on when it is back", async () => {
    const machine = await connected();
    await using early = await agentOf(machine, machine.home);
    await server[Symbol.asyncDispose]();
    await using late = await agentOf(machine, machine.home);
    const agents = [early, late];
    try {
      const each = agents.map(async (agent) => {
        expect(await agent.tools()).toHaveLength(7);
        const refused = await agent.call("list_memories", {}).catch(String);
        expect(refused).toContain(`${origin} can't be reached (ECONNREFUSED)`);
      });
      await Promise.all(each);
    } finally {
      server = await start();
    }
    // For a second after its last attempt, a bridge still says that the server is away.
    for (const agent of agents) {
      await until("it goes on", () =>
        agent.call("list_memories", {}).then(
          ({ isError }) => isError === false,
          () => false,
        ),
      );
    }
  });

  test("a process that is killed while it sends loses nothing and blocks nothing", async () => {
    const machine = await connected();
    const { session_id, transcript_path: transcript, cwd } = stopOf(machine, "killed-1");
    await keepUnsent(machine.kept(origin, "unsent"), { agent: "claude-code", transcript });
    await server[Symbol.asyncDispose]();
    try {
      const command = commandLine(["capture", "--later", ...URL_FLAG], machine);
      const sender = Bun.spawn(command, { env: machine.env, stdin: "ignore" });
      await until("the entry is taken", () =>
        readdirSync(machine.kept(origin, "unsent")).some((name) => name.endsWith(".taken")),
      );
      sender.kill("SIGKILL");
      await sender.exited;
    } finally {
      server = await start();
    }
    // A session that begins sends what is left.
    await using agent = await agentOf(machine, cwd);
    expect((await agent.call("list_memories", {})).isError).toBe(false);
    await untilSaved(session_id, TEXTS);
  });
});
