import { isObject, type JsonObject } from "../../text/parse-json.ts";
import {
  type Part,
  type Position,
  saidText,
  stringOf,
  type TranscriptFormat,
  withoutElements,
} from "./turn.ts";

/** An agent that writes a line for each message and never changes one. */
interface Agent {
  agent: string;
  name: string;
  recognises(line: JsonObject): boolean;
  /** What a line says; null when it is no message of the user or the agent. */
  read(line: JsonObject): { role: Part["role"]; content: unknown; id: unknown } | null;
  /** The lines with the session and its folder in them, if these are not in every line. */
  header?(line: JsonObject): JsonObject | null;
}

const ROLES: Readonly<Record<string, Part["role"]>> = {
  user: "user",
  assistant: "assistant",
};

/** Elements that these agents add to the user's words, such as the answers of hooks. */
const INJECTED = ["system-reminder", "qwen:user-prompt-submit-context"];

const toFormat = ({ agent, name, recognises, read, header }: Agent): TranscriptFormat => ({
  agent,
  name,
  recognises: (first) => first.some(recognises),
  readEntry: ({ value, start }, position) => {
    note(header ? header(value) : value, position);
    const said = read(value);
    if (!said) return null;
    const text = saidText(said.content, isText);
    const typed = said.role === "user" ? withoutElements(text, INJECTED) : text.trim();
    if (typed === "") return null;
    const key = stringOf(said.id) ?? JSON.stringify([position.session, start]);
    return { role: said.role, text: typed, at: atOf(value), key };
  },
});

function note(line: JsonObject | null, position: Position): void {
  if (!line) return;
  position.session = stringOf(line.sessionId) ?? stringOf(line.id) ?? position.session;
  position.folder = stringOf(line.cwd) ?? position.folder;
}

/** Thoughts, tool calls and their results are parts of other types. */
function isText({ type, thought }: JsonObject): boolean {
  return (type ?? "text") === "text" && thought !== true;
}

/** When a line was written: as ISO 8601, or as milliseconds since 1970. */
function atOf({ timestamp, time }: JsonObject): string | null {
  const at = timestamp ?? time;
  return typeof at === "number" ? new Date(at).toISOString() : stringOf(at);
}

/** `~/.qwen/projects/FOLDER/chats/SESSION.jsonl`, as written by version 0.24. */
const qwen = toFormat({
  agent: "qwen",
  name: "a transcript of Qwen Code",
  recognises: ({ sessionId, message }) =>
    typeof sessionId === "string" && isObject(message) && Array.isArray(message.parts),
  read({ type, uuid, message, provenance = null }) {
    const role = ROLES[String(type)];
    if (!role || !isObject(message)) return null;
    const isOwn = [null, "real_user", "assistant_output"].some((each) => each === provenance);
    return isOwn ? { role, content: message.parts, id: uuid } : null;
  },
});

/** `~/.factory/sessions/FOLDER/SESSION.jsonl`, as written by version 0.215. */
const droid = toFormat({
  agent: "droid",
  name: "a transcript of Factory Droid",
  recognises: ({ type, id, cwd }) =>
    type === "session_start" && typeof id === "string" && typeof cwd === "string",
  header: (line) => (line.type === "session_start" ? line : null),
  read({ type, id, message }) {
    if (type !== "message" || !isObject(message) || message.visibility === "user_only") return null;
    const role = ROLES[String(message.role)];
    return role ? { role, content: message.content, id } : null;
  },
});

/** `~/.kimi-code/sessions/FOLDER/SESSION/agents/main/wire.jsonl`, as written by version 2.1. */
const kimi = toFormat({
  agent: "kimi",
  name: "a transcript of Kimi Code",
  recognises: ({ type, protocol_version: version }) =>
    type === "metadata" && typeof version === "string",
  // Neither the session nor its folder is in the file.
  header: () => null,
  read({ type, input, origin, promptId, event }) {
    if (type === "turn.prompt") {
      const isTyped = isObject(origin) && origin.kind === "user";
      return isTyped ? { role: "user", content: input, id: promptId } : null;
    }
    if (type !== "context.append_loop_event" || !isObject(event)) return null;
    if (event.type !== "content.part") return null;
    return { role: "assistant", content: [event.part], id: event.uuid };
  },
});

/** `~/.copilot/session-state/SESSION/events.jsonl`, as written by version 1.0.102. */
const copilot = toFormat({
  agent: "copilot-cli",
  name: "a transcript of GitHub Copilot CLI",
  recognises: ({ type, data }) =>
    type === "session.start" && isObject(data) && data.producer === "copilot-agent",
  header: ({ type, data }) =>
    type === "session.start" && isObject(data) ? { ...Object(data.context), ...data } : null,
  read({ type, id, data }) {
    const [role = "", kind] = String(type).split(".");
    const isOwn = isObject(data) && data.parentToolCallId === undefined;
    return kind === "message" && isOwn && ROLES[role]
      ? { role: ROLES[role], content: data.content, id }
      : null;
  },
});

/** Transcripts that have a message in each line. */
export const messageLines: readonly TranscriptFormat[] = [qwen, droid, copilot, kimi];
