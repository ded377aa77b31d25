import { describe, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { listTranscripts } from "../../../src/import/transcripts/folders.ts";
import { openTranscript } from "../../../src/import/transcripts/read-transcript.ts";
import type { Position, Turn } from "../../../src/import/transcripts/turn.ts";
import { temporaryFolder } from "../../support/database.ts";
import {
  claudeCodeLines,
  codexLines,
  FOLDER,
  geminiLines,
  SAID,
  toLines,
  writeTranscript,
} from "../../support/transcripts.ts";

const ALL = SAID.flatMap(({ user, assistant }) => [`user: ${user}`, `assistant: ${assistant}`]);

async function read(path: string, from?: Position) {
  const reading = await openTranscript(path, from);
  if (!reading) throw new Error(`${path} is not known`);
  const turns: Turn[] = await Array.fromAsync(reading.turns);
  return {
    agent: reading.format.agent,
    turns,
    said: turns.map(({ role, text }) => `${role}: ${text}`),
    position: reading.position(),
    damaged: reading.damaged(),
  };
}

const AGENTS: [string, (session: string) => Record<string, unknown>[]][] = [
  ["claude-code", (session) => claudeCodeLines(session, FOLDER, SAID)],
  ["codex", (session) => codexLines(session, FOLDER, SAID)],
  ["gemini", (session) => geminiLines(session, SAID)],
];

describe.each(AGENTS)("a transcript of %s", (agent, linesOf) => {
  const path = () => join(temporaryFolder(), "tmp", "atlas", "chats", "session.jsonl");

  test("tells what was said, in its order, and nothing that a tool put out", async () => {
    const file = writeTranscript(path(), linesOf("s-1"));
    writeFileSync(join(file, "..", "..", ".project_root"), `${FOLDER}\n`);
    const { agent: found, turns, said } = await read(file);
    expect(found).toBe(agent);
    expect(said).toEqual(ALL);
    for (const turn of turns) {
      expect(turn).toMatchObject({ session: "s-1", folder: FOLDER });
      expect(Date.parse(turn.at ?? "")).toBeGreaterThan(0);
    }
    expect(new Set(turns.map(({ key }) => key)).size).toBe(turns.length);
  });

  test("is read on from where it ended, however it was cut, each turn once", async () => {
    const text = toLines(linesOf("s-2"));
    const whole = await read(writeTranscript(path(), linesOf("s-2")));
    for (let cut = 0; cut < text.length; cut += 97) {
      const file = path();
      mkdirSync(join(file, ".."), { recursive: true });
      // What is of no kind yet, is read the next time.
      writeFileSync(file, text.slice(0, cut));
      const reading = await openTranscript(file);
      const first = reading ? await read(file) : null;
      appendFileSync(file, text.slice(cut));
      const second = await read(file, first?.position);
      expect(
        [...(first?.said ?? []), ...second.said].filter(
          (one, index, all) => one !== all[index - 1],
        ),
      ).toEqual(ALL);
      expect(second.position.offset).toBe(whole.position.offset);
      const third = await read(file, second.position);
      expect(third.said).toEqual([]);
    }
  });

  test("has the same keys whenever it is read", async () => {
    const keys = async () =>
      (await read(writeTranscript(path(), linesOf("s-3")))).turns.map(({ key }) => key);
    expect(await keys()).toEqual(await keys());
  });

  test("is read around damaged lines, which are counted", async () => {
    const lines = toLines(linesOf("s-4")).split("\n");
    const file = path();
    mkdirSync(join(file, ".."), { recursive: true });
    lines.splice(2, 0, '{"type": "user", "mess', "no JSON at all", "");
    writeFileSync(file, lines.join("\n"));
    const { said, damaged } = await read(file);
    expect(said).toEqual(ALL);
    expect(damaged).toBe(2);
  });
});

describe("a transcript of Claude Code", () => {
  const line = (fields: Record<string, unknown>) => ({
    parentUuid: null,
    isSidechain: false,
    sessionId: "s",
    cwd: FOLDER,
    uuid: crypto.randomUUID(),
    timestamp: "2026-11-20T09:00:00.000Z",
    type: "user",
    ...fields,
  });
  const user = (content: unknown, fields = {}) =>
    line({ message: { role: "user", content }, ...fields });
  const assistant = (text: string, fields = {}) =>
    line({
      type: "assistant",
      message: { role: "assistant", model: "claude", content: [{ type: "text", text }] },
      ...fields,
    });

  test("leaves out what nobody said, and keeps the words of a command", async () => {
    const path = writeTranscript(join(temporaryFolder(), "s.jsonl"), [
      user("Caveat: what follows", { isMeta: true }),
      user("<command-message>clear</command-message>\n<command-name>/clear</command-name>"),
      user("<local-command-stdout>cleared</local-command-stdout>"),
      user("<command-name>/review</command-name>\n<command-args>the parser</command-args>"),
      assistant("Another agent's words.", { isSidechain: true }),
      user("This session is being continued…", { isCompactSummary: true }),
      assistant("API Error: 529", { isApiErrorMessage: true }),
      user([{ type: "text", text: "[Request interrupted by user for tool use]" }]),
      user([
        { type: "text", text: "<system-reminder>be brief</system-reminder>Call me Sam." },
        { type: "image", source: {} },
      ]),
      assistant("I look at it."),
      assistant("I look at it."),
      assistant("Hello Sam. 1 <b and a </b>"),
    ]);
    expect((await read(path)).said).toEqual([
      "user: /review the parser",
      "user: Call me Sam.",
      "assistant: I look at it.\n\nHello Sam. 1 <b and a </b>",
    ]);
  });
});

describe("a transcript of Codex", () => {
  test("of 2025 has no envelopes", async () => {
    const message = (role: string, text: string) => ({
      type: "message",
      role,
      content: [{ type: role === "user" ? "input_text" : "output_text", text }],
    });
    const path = writeTranscript(join(temporaryFolder(), "rollout.jsonl"), [
      { id: "s-9", timestamp: "2025-08-01T00:00:00Z", instructions: null, git: {} },
      { record_type: "state" },
      message("user", "<environment_context>\nhere\n</environment_context>"),
      message("user", "# Context from my IDE setup:\n\n## My request for Codex:\nMend it."),
      message("assistant", "Mended."),
    ]);
    const { turns, said } = await read(path);
    expect(said).toEqual(["user: Mend it.", "assistant: Mended."]);
    expect(turns[0]).toMatchObject({ session: "s-9", at: null });
  });

  test("is read when it is compressed", async () => {
    const path = join(temporaryFolder(), "rollout-1.jsonl.zst");
    const lines = toLines(codexLines("s", FOLDER, SAID));
    writeFileSync(path, Bun.zstdCompressSync(lines));
    expect((await read(path)).said).toEqual(ALL);
  });
});

describe("a transcript of Gemini CLI", () => {
  test("of the first versions is one object", async () => {
    const [session, ...messages] = geminiLines("s-8", SAID);
    const path = join(temporaryFolder(), "session.json");
    const whole = { ...session, messages: messages.filter(({ id }) => id !== undefined) };
    writeFileSync(path, JSON.stringify(whole, null, 2));
    expect((await read(path)).said).toEqual(ALL);
  });

  test("is read as it was changed: taken back, or written again", async () => {
    const lines = geminiLines("s-8", SAID);
    const path = join(temporaryFolder(), "session.jsonl");
    const second = lines.findIndex(({ id }) => id === "s-8-3");
    writeTranscript(path, [...lines, { $rewindTo: lines[second]?.id }]);
    expect((await read(path)).said).toEqual(ALL.slice(0, 2));
    const only = { id: "x", timestamp: "2026-11-20T10:00:00Z", type: "user" };
    const typed = { ...only, content: "a\n--- Content from referenced files ---\nsecret" };
    writeTranscript(path, [...lines, { $set: { messages: [typed] } }]);
    expect((await read(path)).said).toEqual(["user: a"]);
  });
});

test("a file of another kind is no transcript", async () => {
  const path = join(temporaryFolder(), "notes.jsonl");
  writeFileSync(path, '{"id": 1, "type": "message", "content": "x"}\n');
  expect(await openTranscript(path)).toBeNull();
});

test("the transcripts of an agent are found in its folder, the oldest first, others' are not", async () => {
  const home = temporaryFolder();
  const write = (path: string) => writeTranscript(join(home, path), []);
  write(".claude/projects/-a/one.jsonl");
  write(".claude/projects/-a/agent-1.jsonl");
  write(".claude/projects/-a/one/subagents/agent-2.jsonl");
  write("elsewhere/sessions/2026/11/20/rollout-1.jsonl");
  write(".gemini/tmp/a/chats/session-1.json");
  write(".gemini/tmp/a/chats/session-1.jsonl");
  const list = async (agent: string) => {
    const env = { CODEX_HOME: join(home, "elsewhere") };
    const { folder, paths } = await listTranscripts(agent, { env, home });
    return paths.map((path) => path.slice(folder.length + 1));
  };
  expect(await list("claude-code")).toEqual(["projects/-a/one.jsonl"]);
  expect(await list("codex")).toEqual(["sessions/2026/11/20/rollout-1.jsonl"]);
  expect(await list("gemini")).toEqual(["tmp/a/chats/session-1.jsonl"]);
  expect(readFileSync(join(home, ".claude/projects/-a/one.jsonl"), "utf8")).toBe("");
});
