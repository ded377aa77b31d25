import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** A line of a transcript. */
type Line = Record<string, unknown>;

/** What is said in a conversation, and the folder in which it is. */
export const SAID = [
  { user: "Which database do we use?", assistant: "PostgreSQL, since March." },
  { user: "And who looks after it?", assistant: "Mira does." },
];
export const FOLDER = "/home/sam/atlas";

/** Writes a transcript, as its agent would. */
export function writeTranscript(path: string, lines: readonly Line[]): string {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, toLines(lines));
  return path;
}

export function toLines(lines: readonly Line[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The time of the n-th line, a second after the one before. */
const timeOf = (index: number) => new Date(Date.UTC(2026, 10, 20, 9, 0, index)).toISOString();

/**
 * A session of Claude Code in its own form: turns, and other records around them. After
 * https://code.claude.com/docs/en/claude-directory and transcripts of versions 1.0 to 2.1.
 */
export function claudeCodeLines(
  session: string,
  folder: string,
  said: readonly { user: string; assistant: string }[],
): Line[] {
  let count = 0;
  const line = (fields: Line): Line => ({
    parentUuid: count === 0 ? null : `${session}-${count - 1}`,
    isSidechain: false,
    userType: "external",
    cwd: folder,
    sessionId: session,
    version: "2.1.0",
    gitBranch: "main",
    uuid: `${session}-${count}`,
    timestamp: timeOf(count++),
    ...fields,
  });
  const answer = (...content: Line[]) =>
    line({ type: "assistant", message: { role: "assistant", model: "claude", content } });
  return [
    { type: "file-history-snapshot", messageId: "m", snapshot: {} },
    ...said.flatMap(({ user, assistant }) => [
      line({ type: "user", message: { role: "user", content: user } }),
      answer({ type: "thinking", thinking: "thinks about it", signature: "" }),
      answer({ type: "tool_use", id: "t1", name: "Bash", input: { command: "cat output" } }),
      line({
        type: "user",
        message: {
          role: "user",
          content: [{ type: "tool_result", tool_use_id: "t1", content: "output of a tool" }],
        },
        toolUseResult: { stdout: "output of a tool" },
      }),
      answer({ type: "text", text: assistant }),
    ]),
  ];
}

/** The same of Codex, after `RolloutLine` in codex-rs/protocol/src/protocol.rs. */
export function codexLines(
  session: string,
  folder: string,
  said: readonly { user: string; assistant: string }[],
): Line[] {
  let count = 0;
  const line = (type: string, payload: Line) => ({ timestamp: timeOf(count++), type, payload });
  const message = (role: string, text: string) =>
    line("response_item", {
      type: "message",
      role,
      content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
    });
  return [
    line("session_meta", { id: session, timestamp: timeOf(0), cwd: folder, originator: "codex" }),
    message("developer", "how to behave"),
    message(
      "user",
      "# AGENTS.md instructions for here\n\n<INSTRUCTIONS>\nbe kind\n</INSTRUCTIONS>",
    ),
    message("user", `<environment_context>\n  <cwd>${folder}</cwd>\n</environment_context>`),
    ...said.flatMap(({ user, assistant }) => [
      message("user", user),
      line("event_msg", { type: "user_message", message: user, images: [] }),
      line("turn_context", { cwd: folder, model: "gpt" }),
      line("response_item", { type: "reasoning", summary: [], encrypted_content: "x" }),
      line("response_item", {
        type: "function_call",
        name: "shell",
        arguments: "{}",
        call_id: "c",
      }),
      line("response_item", {
        type: "function_call_output",
        call_id: "c",
        output: "output of a tool",
      }),
      line("event_msg", { type: "agent_message", message: assistant }),
      message("assistant", assistant),
      line("event_msg", { type: "token_count", info: null }),
    ]),
  ];
}

/** The same of Gemini CLI, after packages/core/src/services/chatRecordingTypes.ts. */
export function geminiLines(
  session: string,
  said: readonly { user: string; assistant: string }[],
): Line[] {
  let count = 0;
  const message = (fields: Line): Line => ({
    id: `${session}-${count}`,
    timestamp: timeOf(count++),
    ...fields,
  });
  return [
    { sessionId: session, projectHash: "0".repeat(64), startTime: timeOf(0), kind: "main" },
    ...said.flatMap(({ user, assistant }) => {
      const asked = message({ type: "user", content: [{ text: user }] });
      const info = message({ type: "info", content: "an update is there" });
      const answer = message({ type: "gemini", content: assistant, model: "gemini" });
      return [
        asked,
        info,
        answer,
        { $set: { lastUpdated: timeOf(count) } },
        // Each state of a message is written.
        {
          ...answer,
          toolCalls: [{ id: "t", name: "shell", args: {}, result: "output of a tool" }],
        },
      ];
    }),
  ];
}
