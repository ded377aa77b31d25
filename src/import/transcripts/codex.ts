import { isObject, type JsonObject } from "../json-lines.ts";
import {
  type Entry,
  type Part,
  type Place,
  stringOf,
  type TranscriptFormat,
  withoutElements,
} from "./turn.ts";

/** What Codex tells its model in the name of the person. */
const ASIDES = [
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
/** Before what was typed into an editor. */
const REQUEST = "## My request for Codex:";

/**
 * `~/.codex/sessions/YEAR/MONTH/DAY/rollout-TIME-ID.jsonl`: each line has a `type` and a `payload`. What
 * is said is there as a message of the model (`response_item`) and as an event (`event_msg`), in the
 * first versions only as the former, without an envelope. After `RolloutLine` in Codex's
 * codex-rs/protocol/src/protocol.rs (https://github.com/openai/codex).
 */
export const codex: TranscriptFormat = {
  agent: "codex",
  name: "a transcript of Codex",
  recognises: (first) => first.some((value) => value.type === "session_meta" || isFirstMeta(value)),
  readEntry: (entry, place) => {
    const { type, payload, timestamp } = entry.value;
    const inner = isObject(payload) ? payload : null;
    if (type === "session_meta" && inner) noteSession(inner, place);
    else if (type === "turn_context" && inner) place.folder = stringOf(inner.cwd) ?? place.folder;
    else if (type === "response_item" && inner) return toPart(readMessage(inner), entry, place);
    else if (type === "event_msg" && inner) return toPart(readEvent(inner), entry, place);
    else if (isFirstMeta(entry.value)) noteSession(entry.value, place);
    else if (type === "message" && timestamp === undefined)
      return toPart(readMessage(entry.value), entry, place);
    return null;
  },
};

/** The first line, as it was in 2025. */
function isFirstMeta({ id, timestamp, type, instructions, git }: JsonObject): boolean {
  const isMeta = typeof id === "string" && typeof timestamp === "string" && type === undefined;
  return isMeta && (instructions !== undefined || git !== undefined);
}

function noteSession(meta: JsonObject, place: Place): void {
  // A fork begins with what it goes on from.
  place.session ??= stringOf(meta.id);
  place.folder = stringOf(meta.cwd) ?? place.folder;
}

type Said = Pick<Part, "role" | "text">;

function readMessage({ type, role, content }: JsonObject): Said | null {
  if (type !== "message" || !Array.isArray(content)) return null;
  if (role !== "user" && role !== "assistant") return null;
  const text = content
    .flatMap((item) =>
      isObject(item) && item.type !== "input_image" ? (stringOf(item.text) ?? []) : [],
    )
    .join("\n");
  return { role, text };
}

function readEvent({ type, message }: JsonObject): Said | null {
  if (typeof message !== "string") return null;
  if (type === "user_message") return { role: "user", text: message };
  return type === "agent_message" ? { role: "assistant", text: message } : null;
}

function toPart(said: Said | null, { value, start }: Entry, place: Place): Part | null {
  if (!said) return null;
  const text = said.role === "user" ? wordsOf(said.text) : said.text.trim();
  if (text === "") return null;
  // Lines have no ids, and are only ever appended.
  const key = JSON.stringify([place.session, start]);
  return { role: said.role, text, at: stringOf(value.timestamp), key };
}

/** What the person typed. */
function wordsOf(said: string): string {
  const text = withoutElements(said, ASIDES).replace(INSTRUCTIONS, "").trim();
  const request = text.lastIndexOf(REQUEST);
  return request < 0 ? text : text.slice(request + REQUEST.length).trim();
}
