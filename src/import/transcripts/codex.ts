import { isObject, type JsonObject } from "../../text/parse-json.ts";
import {
  type Entry,
  type Part,
  type Position,
  saidText,
  stringOf,
  type TranscriptFormat,
  withoutElements,
} from "./turn.ts";

/** Elements that Codex adds to messages of the user. */
const INJECTED = [
  "environment_context",
  "user_instructions",
  "INSTRUCTIONS",
  "permissions",
  "collaboration_mode",
  "turn_aborted",
  "user_shell_command",
  "subagent_notification",
  "skill",
  "hook_prompt",
];
const INSTRUCTIONS = /^# AGENTS\.md instructions\b[^\n]*/;
/** Precedes the text that the user typed into an editor. */
const REQUEST = "## My request for Codex:";

/**
 * `~/.codex/sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl`: each line has a `type` and a `payload`. Each turn appears
 * as a message (`response_item`) and as an event (`event_msg`); in the first versions only as a message, without `type`
 * and `payload`. Source: `RolloutLine` in codex-rs/protocol/src/protocol.rs (https://github.com/openai/codex).
 */
export const codex: TranscriptFormat = {
  agent: "codex",
  name: "a transcript of Codex",
  recognises: (first) => first.some((value) => value.type === "session_meta" || isFirstMeta(value)),
  readEntry: (entry, position) => {
    const { type, payload, timestamp } = entry.value;
    const inner = isObject(payload) ? payload : null;
    if (type === "session_meta" && inner) noteSession(inner, position);
    else if (type === "turn_context" && inner)
      position.folder = stringOf(inner.cwd) ?? position.folder;
    else if (type === "response_item" && inner) return toPart(readMessage(inner), entry, position);
    else if (type === "event_msg" && inner) return toPart(readEvent(inner), entry, position);
    else if (isFirstMeta(entry.value)) noteSession(entry.value, position);
    else if (type === "message" && timestamp === undefined)
      return toPart(readMessage(entry.value), entry, position);
    return null;
  },
};

/** Whether a line is the session header that Codex wrote in 2025. */
function isFirstMeta({ id, timestamp, type, instructions, git }: JsonObject): boolean {
  const isMeta = typeof id === "string" && typeof timestamp === "string" && type === undefined;
  return isMeta && (instructions !== undefined || git !== undefined);
}

function noteSession(meta: JsonObject, position: Position): void {
  // A forked session begins with the lines of the original session. Its own header comes first.
  position.session ??= stringOf(meta.id);
  position.folder = stringOf(meta.cwd) ?? position.folder;
}

type Said = Pick<Part, "role" | "text">;

function readMessage({ type, role, content }: JsonObject): Said | null {
  if (type !== "message" || !Array.isArray(content)) return null;
  if (role !== "user" && role !== "assistant") return null;
  return { role, text: saidText(content, (item) => item.type !== "input_image") };
}

function readEvent({ type, message }: JsonObject): Said | null {
  if (typeof message !== "string") return null;
  if (type === "user_message") return { role: "user", text: message };
  return type === "agent_message" ? { role: "assistant", text: message } : null;
}

function toPart(said: Said | null, { value, start }: Entry, position: Position): Part | null {
  if (!said) return null;
  const text = said.role === "user" ? typedText(said.text) : said.text.trim();
  if (text === "") return null;
  // Lines have no ids. They are only appended, so their offsets are stable.
  const key = JSON.stringify([position.session, start]);
  return { role: said.role, text, at: stringOf(value.timestamp), key };
}

/** The part of a message that the user typed. */
function typedText(said: string): string {
  const text = withoutElements(said, INJECTED).replace(INSTRUCTIONS, "").trim();
  const request = text.lastIndexOf(REQUEST);
  return request < 0 ? text : text.slice(request + REQUEST.length).trim();
}
