import { isObject, type JsonObject } from "../../text/parse-json.ts";
import {
  type Part,
  type Position,
  saidText,
  stringOf,
  type TranscriptFormat,
  withoutElements,
} from "./turn.ts";

/** Elements that Gemini CLI adds to the user's words. */
const INJECTED = ["session_context", "hook_context"];
/** Precedes the contents of files that the user named with `@`. */
const FILES = "--- Content from referenced files ---";

/**
 * `~/.gemini/tmp/PROJECT/chats/session-*.json` is one object with `messages`. In newer versions, `.jsonl` has a line
 * for the session, one for each state of a message, and changes (`$set`, `$rewindTo`). Source: `loadConversationRecord`
 * in packages/core/src/services/chatRecordingService.ts (https://github.com/google-gemini/gemini-cli).
 */
export const gemini: TranscriptFormat = {
  agent: "gemini",
  name: "a transcript of Gemini CLI",
  recognises: (first, head) =>
    first.some(isSession) ||
    (/^\s*\{/.test(head) && /"sessionId"\s*:/.test(head) && /"projectHash"\s*:/.test(head)),
  readEntry: null,
};

function isSession({ sessionId, projectHash }: JsonObject): boolean {
  return typeof sessionId === "string" && typeof projectHash === "string";
}

/** The messages of a conversation after all its changes. A `.json` file counts as one line. */
export function readConversation(lines: Iterable<JsonObject>, position: Position): Part[] {
  const messages = new Map<string, JsonObject>();
  const keep = (list: unknown) => {
    for (const message of Array.isArray(list) ? list : []) {
      const id = isObject(message) && stringOf(message.id);
      if (id) messages.set(id, message);
    }
  };
  for (const line of lines) {
    const { $set: changes, $rewindTo: first } = line;
    if (typeof first === "string") rewind(messages, first);
    else if (isObject(changes)) {
      if (Array.isArray(changes.messages)) messages.clear();
      keep(changes.messages);
    } else if (isSession(line)) {
      // The conversation of a subagent.
      if (line.kind === "subagent") return [];
      position.session = stringOf(line.sessionId) ?? position.session;
      keep(line.messages);
    } else keep([line]);
  }
  return [...messages.values()].flatMap((message) => toPart(message) ?? []);
}

function rewind(messages: Map<string, JsonObject>, first: string): void {
  const ids = [...messages.keys()];
  for (const id of ids.slice(Math.max(0, ids.indexOf(first)))) messages.delete(id);
}

function toPart({ id, type, timestamp, content, displayContent }: JsonObject): Part | null {
  if (type !== "user" && type !== "gemini") return null;
  const role = type === "user" ? "user" : "assistant";
  const shown = role === "user" ? textOf(displayContent) : "";
  const said = shown === "" ? textOf(content) : shown;
  const text = role === "user" ? typedText(said) : said.trim();
  if (text === "") return null;
  return { role, text, at: stringOf(timestamp), key: String(id) };
}

/** The text of a message, which may also consist of a single part. */
function textOf(content: unknown): string {
  return saidText(isObject(content) ? [content] : content, ({ thought }) => thought !== true);
}

/** The part of a message that the user typed. */
function typedText(said: string): string {
  const text = withoutElements(said, INJECTED);
  const files = text.indexOf(FILES);
  return files < 0 ? text : text.slice(0, files).trim();
}
