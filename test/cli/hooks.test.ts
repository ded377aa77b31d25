import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { program, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { connectProgram } from "../support/mcp.ts";
import { temporaryHome } from "../support/temporary-home.ts";
import {
  claudeCodeLines,
  codexLines,
  geminiLines,
  toLines,
  writeTranscript,
} from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const { home, dataDir } = temporaryHome();
const { env, command } = program(dataDir);
let agent: Awaited<ReturnType<typeof connectProgram>>;
beforeAll(async () => {
  const { args } = program(dataDir, "mcp");
  // Without a project, memories of all projects are listed.
  agent = await connectProgram("v1", { command, args, env, cwd: home });
}, 120_000);
afterAll(() => agent[Symbol.asyncDispose]());

/** A new repository. */
function repository(name: string): string {
  const folder = join(home, name);
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
  return folder;
}

/** Runs a hook like an agent, with JSON on standard input. */
const hook = (words: readonly string[], input: unknown) =>
  ctxd(words, { dataDir, env, input: typeof input === "string" ? input : JSON.stringify(input) });

const savedTexts = async (session_id: string) =>
  (await agent.call("list_memories", { session_id, limit: 100 })).text;

/** Waits until all these texts of a session are saved. */
const untilSaved = (session: string, texts: readonly string[]) =>
  until(`${texts} of ${session}`, async () => {
    const text = await savedTexts(session);
    return texts.every((each) => text.includes(each));
  });

const SAID = [{ user: "We call the staging server heron.", assistant: "Noted, heron." }];

describe.each([
  [
    "claude-code",
    "Stop",
    (session: string, folder: string) => claudeCodeLines(session, folder, SAID),
  ],
  ["codex", "Stop", (session: string, folder: string) => codexLines(session, folder, SAID)],
  ["gemini", "AfterAgent", (session: string) => geminiLines(session, SAID)],
])("the hooks of %s", (name, event, linesOf) => {
  test("save the new messages of the transcript, print nothing, and recall them in the next session", async () => {
    const folder = repository(`${name}-project`);
    const session = `${name}-1`;
    const lines = toLines(linesOf(session, folder));
    const path = join(home, `${name}.jsonl`);
    writeFileSync(path, lines.slice(0, lines.length / 2));
    const input = {
      session_id: session,
      transcript_path: path,
      cwd: folder,
      hook_event_name: event,
    };
    const run = () => hook(["capture", "--agent", name], input);
    const silent = { stdout: "", stderr: "", exitCode: 0 };
    expect(await run()).toEqual(silent);
    appendFileSync(path, lines.slice(lines.length / 2));
    expect(await run()).toEqual(silent);
    await untilSaved(session, ["User: We call the staging", "Assistant: Noted, heron."]);
    const text = await savedTexts(session);
    expect(text).toContain(`project: ${name}-project`);
    expect(text).not.toContain("output of a tool");

    const next = { session_id: `${name}-2`, transcript_path: null, cwd: folder };
    const begins = { ...next, hook_event_name: "SessionStart", source: "startup" };
    const { stdout, exitCode } = await hook(["recall", "--agent", name], begins);
    expect(exitCode).toBe(0);
    const { hookEventName, additionalContext } = JSON.parse(stdout).hookSpecificOutput;
    expect(hookEventName).toBe("SessionStart");
    expect(additionalContext).toContain("heron");
    // A session recalls a memory once, and another project does not recall it.
    const prompt = "What do we call the staging server?";
    const asks = { ...next, hook_event_name: "UserPromptSubmit", prompt };
    expect(await hook(["recall"], asks)).toEqual(silent);
    const elsewhere = { ...asks, session_id: "other", cwd: repository("elsewhere") };
    expect(await hook(["recall"], elsewhere)).toEqual(silent);
  });
});

/** What the hooks of the real programs sent, without the place: at the end of a turn, and in the next session. */
const RECORDED: [string, Record<string, unknown>, Record<string, unknown>, string][] = [
  [
    "qwen",
    { hook_event_name: "Stop", permission_mode: "auto", stop_hook_active: false, crons: [] },
    { hook_event_name: "SessionStart", permission_mode: "auto", source: "startup", model: "m" },
    '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"From',
  ],
  [
    "droid",
    { hook_event_name: "Stop", permission_mode: "auto-high", tool_execution_count: 0 },
    { hook_event_name: "SessionStart", permission_mode: "off", source: "startup" },
    '{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"From',
  ],
  [
    "copilot-cli",
    { hook_event_name: "Stop", timestamp: "2026-11-25T22:57:55.930Z", stop_reason: "end_turn" },
    { hook_event_name: "SessionStart", source: "new", initial_prompt: "What is our mascot?" },
    '{"additionalContext":"From',
  ],
  [
    "kimi",
    { hook_event_name: "Stop", client_type: "kimi_code_cli", stop_hook_active: false },
    {
      hook_event_name: "UserPromptSubmit",
      client_type: "kimi_code_cli",
      prompt: [{ type: "text", text: "What is our mascot?" }],
      is_steer: false,
    },
    "From the user's long-term memory",
  ],
];

test.each(RECORDED)("the hooks of %s, as it runs them", async (name, stop, next, beginning) => {
  const folder = repository(`${name}-repository`);
  const session = `session_${name}`;
  // Kimi Code names no file: it is found by the session.
  const kimi = join(home, "kimi", "sessions", "wd_1", session, "agents", "main", "wire.jsonl");
  const path = name === "kimi" ? kimi : join(home, `${name}-recorded.jsonl`);
  const fixture = join(import.meta.dir, "..", "fixtures", "transcripts", `${name}.jsonl`);
  const text = readFileSync(fixture, "utf8").replaceAll("/home/sam/atlas", folder);
  const [, id = ""] = /(?:"sessionId"|"session_start","id"):"([^"]+)"/.exec(text) ?? [];
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, id === "" ? text : text.replaceAll(id, session));
  const run = async (kind: string, event: object) => {
    const input = JSON.stringify({ session_id: session, cwd: folder, ...event });
    const words = [kind, "--agent", name];
    return ctxd(words, { dataDir, env: { ...env, KIMI_CODE_HOME: join(home, "kimi") }, input });
  };
  const place = name === "kimi" ? {} : { transcript_path: path };
  expect(await run("capture", { ...stop, ...place })).toEqual({
    stdout: "",
    stderr: "",
    exitCode: 0,
  });
  await untilSaved(session, ["User: REMEMBER: Our", "Assistant: SAVED"]);
  const saved = await savedTexts(session);
  expect(saved).toContain(`project: ${name}-repository`);
  expect(saved).not.toContain("system-reminder");
  await agent.call("save_memory", {
    content: "Our mascot is a newt.",
    project: `${name}-repository`,
  });
  const recalled = await run("recall", { ...next, session_id: "session_next" });
  expect(recalled).toMatchObject({ stderr: "", exitCode: 0 });
  expect(recalled.stdout).toStartWith(beginning);
  expect(recalled.stdout).toContain("Our mascot is a newt.");
  // Qwen Code repeats its event for a prompt, without one, after each call of a tool.
  const again = { hook_event_name: "UserPromptSubmit", prompt: "", session_id: "session_again" };
  expect(await run("recall", again)).toEqual({ stdout: "", stderr: "", exitCode: 0 });
});

test("hooks of Cursor save each message as it is sent", async () => {
  const folder = repository("cursor-project");
  const common = { conversation_id: "c-1", generation_id: "g-1", workspace_roots: [folder] };
  const asked = {
    ...common,
    hook_event_name: "beforeSubmitPrompt",
    prompt: "Our mascot is a newt.",
  };
  const answered = { ...common, hook_event_name: "afterAgentResponse", text: "A fine newt." };
  for (const input of [asked, answered, answered]) {
    expect(await hook(["capture", "--agent", "cursor"], input)).toMatchObject({ exitCode: 0 });
  }
  await untilSaved("c-1", ["User: Our mascot is a newt.", "Assistant: A fine newt."]);
  expect((await savedTexts("c-1")).match(/A fine newt/g)).toHaveLength(1);
  const begins = { ...common, conversation_id: "c-2", hook_event_name: "sessionStart" };
  const { stdout } = await hook(["recall", "--agent", "cursor"], begins);
  expect(JSON.parse(stdout).additional_context).toContain("newt");
});

test("recalled texts contain no control characters for the terminal", async () => {
  await agent.call("save_memory", { content: "The gate \u001b[2J is open.", project: "escapes" });
  const { stdout } = await ctxd(["recall", "--project", "escapes"], { dataDir, env });
  expect(stdout).toContain("The gate \\u{1b}[2J is open.");
});

test.each(["abc", "199", "100001", "1e3"])(
  "a budget of %s is refused in a command, but ignored in a hook",
  async (text) => {
    const words = ["recall", "--budget", text];
    const problem = "--budget takes a whole number from 200 to 100,000.";
    const refused = await ctxd(words, { dataDir, env });
    expect(refused).toEqual({ stdout: "", stderr: `ctxd: ${problem}\n`, exitCode: 2 });
    const asks = { session_id: "s", cwd: home, prompt: "x", hook_event_name: "UserPromptSubmit" };
    const answered = await hook(words, asks);
    const warning = `ctxd: nothing was recalled: ${problem}\n`;
    expect(answered).toEqual({ stdout: "", stderr: warning, exitCode: 0 });
  },
);

test.each([
  ["nothing at all", ""],
  ["no JSON", "{"],
  ["no object", "[1]"],
  ["another kind of object", { hello: "you" }],
  ["a transcript that is not there", { transcript_path: "/nonexistent/x.jsonl", session_id: "s" }],
  ["a folder in its place", { transcript_path: "/", session_id: "s", cwd: "/" }],
  [
    "fields of other types",
    { transcript_path: 7, session_id: [], turns: [{ role: 1 }], prompt: {} },
  ],
  ["a session whose name is too long", { prompt: "x", session_id: "s".repeat(500), cwd: "/" }],
])("a hook with %s as its input does not fail", async (_, input) => {
  for (const words of [
    ["capture", "--unknown", "option"],
    ["recall", "--unknown", "option"],
  ]) {
    expect(await hook(words, input)).toMatchObject({ stdout: "", exitCode: 0 });
  }
});

test("a hook without a server starts one without waiting, and no message is lost", async () => {
  const folder = join(temporaryFolder(), "data");
  const lines = claudeCodeLines("s-1", repository("later"), SAID);
  const path = writeTranscript(join(temporaryFolder(), "s-1.jsonl"), lines);
  const input = JSON.stringify({
    session_id: "s-1",
    transcript_path: path,
    hook_event_name: "Stop",
  });
  try {
    const ran = await ctxd(["capture", "--agent", "claude-code"], { dataDir: folder, env, input });
    expect(ran).toEqual({ stdout: "", stderr: "", exitCode: 0 });
    // Other users can't read the files of the hook.
    await until("the message is saved", async () => {
      const { stdout } = await ctxd(["recall", "--project", "later"], { dataDir: folder, env });
      return stdout.includes("heron");
    });
    expect(readdirSync(folder).filter((name) => name.startsWith(".hook-"))).toEqual([]);
  } finally {
    await stopServer(folder);
  }
});
