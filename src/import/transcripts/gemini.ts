import { isObject, type JsonObject } from "../json-lines.ts";
import { type Part, type Place, stringOf, type TranscriptFormat, withoutElements } from "./turn.ts";

/** What Gemini CLI puts among the words of a person. */
const ASIDES = ["session_context", "hook_context"];
/** Before the files that the person named with `@`. */
const FILES = "--- Content from referenced files ---";

/**
 * `~/.gemini/tmp/PROJECT/chats/session-*.json` is one object with `messages`. In newer versions,
 * `.jsonl` has a line for the session, one for each state of a message, and changes (`$set`,
 * `$rewindTo`). After `loadConversationRecord` in packages/core/src/services/chatRecordingService.ts of
 * Gemini CLI (https://github.com/google-gemini/gemini-cli).
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

/** What is said in a conversation, as its lines leave it; a `.json` file is one line. */
export function readConversation(lines: Iterable<JsonObject>, place: Place): Part[] {
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
      // Another agent, which this one has started.
      if (line.kind === "subagent") return [];
      place.session = stringOf(line.sessionId) ?? place.session;
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
  const text = role === "user" ? wordsOf(said) : said.trim();
  if (text === "") return null;
  return { role, text, at: stringOf(timestamp), key: String(id) };
}

/** Of parts, those that are text: the others are uses of tools and what these put out. */
function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  const parts = Array.isArray(content) ? content : [content];
  return parts
    .flatMap((part) => {
      if (typeof part === "string") return part;
      return isObject(part) && part.thought !== true ? (stringOf(part.text) ?? []) : [];
    })
    .join("\n");
}

/** What the person typed. */
function wordsOf(said: string): string {
  const text = withoutElements(said, ASIDES);
  const files = text.indexOf(FILES);
  return files < 0 ? text : text.slice(0, files).trim();
}
