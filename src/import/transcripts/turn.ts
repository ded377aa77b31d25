import { isObject, type JsonObject } from "../../text/parse-json.ts";
import type { SourceMemory } from "../formats/format.ts";

/** What the user or the agent said in a session until the other one spoke. Without output of tools. */
export interface Turn {
  role: "user" | "assistant";
  text: string;
  /** ISO 8601; null when the transcript has no time. */
  at: string | null;
  /** The agent's id of the session. */
  session: string | null;
  folder: string | null;
  /** Identifies the turn among all turns of the agent. Every reading produces the same key. */
  key: string;
}

/** How far a transcript has been read. */
export interface Position {
  /** In bytes, at the end of a line. */
  offset: number;
  /** Time of the newest turn, in milliseconds since 1970. */
  at: number | null;
  session: string | null;
  folder: string | null;
}

/** The beginning of a transcript. */
export const BEGINNING: Position = { offset: 0, at: null, session: null, folder: null };

export interface Entry {
  value: JsonObject;
  /** Offset of its first byte. */
  start: number;
}

/** The part of a turn in one line of a transcript. */
export type Part = Omit<Turn, "session" | "folder">;

/** Reads a line of a transcript; null when it is no part of a turn. */
export type ReadEntry = (entry: Entry, position: Position) => Part | null;

/** The transcript format of an agent. */
export interface TranscriptFormat {
  /** The agent's id, as in `ctxd connect`. */
  agent: string;
  /** Describes such a file to people. */
  name: string;
  /** Whether a file has this format, by the objects in its first lines. */
  recognises(first: readonly JsonObject[], head: string): boolean;
  /** Reads a line of a file that is only appended to; null for a file that may be rewritten. */
  readEntry: ReadEntry | null;
}

/**
 * Joins the parts that an agent says before and after each tool call into one turn. Each part of the
 * user is a turn of its own.
 */
export function createTurnBuilder(position: Position) {
  let open: { parts: string[]; turn: Turn } | null = null;
  let last: Turn | null = null;

  const close = (): Turn | null => {
    const closed = open && { ...open.turn, text: open.parts.join("\n\n") };
    open = null;
    if (closed) last = closed;
    return closed;
  };

  return {
    /** Ends and returns the open turn; null when none is open. */
    close,

    /** Takes a part. Returns the turn that the part ends, or null. */
    add(part: Part): Turn | null {
      const before = open?.turn ?? last;
      if (open?.turn.role === "assistant" && part.role === "assistant") {
        if (!open.parts.includes(part.text)) open.parts.push(part.text);
        return null;
      }
      // Some agents write everything twice: as shown to the user, and as sent to the model.
      const isAgain = open?.parts.includes(part.text) || before?.text === part.text;
      if (before?.role === part.role && isAgain) return null;
      const closed = close();
      const { session, folder } = position;
      open = { parts: [part.text], turn: { ...part, session, folder } };
      return closed;
    },
  };
}

export function stringOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** An ISO 8601 time in milliseconds since 1970; null when it is missing or invalid. */
export function timeOf(at: string | null): number | null {
  const time = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(time) ? null : time;
}

/** Removes elements with these names from a text. Takes linear time for any text. */
export function withoutElements(text: string, names: readonly string[]): string {
  return names.reduce(withoutElement, text).trim();
}

function withoutElement(text: string, name: string): string {
  const [opening, closing] = [`<${name}`, `</${name}>`];
  let rest = "";
  let at = 0;
  for (let start = text.indexOf(opening); start >= 0; start = text.indexOf(opening, at)) {
    const end = text.indexOf(closing, start);
    const after = text[start + opening.length];
    if (end < 0 || after === undefined) break;
    const isElement = after === ">" || after === " ";
    const next = isElement ? end + closing.length : start + opening.length;
    rest += text.slice(at, isElement ? start : next);
    at = next;
  }
  return rest + text.slice(at);
}

/** The first word of a turn's memory. */
const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

/** A message of a conversation. */
interface ChatTurn {
  role: "user" | "assistant";
  text: string;
  /** Identifies it in its source. Without a text here, all that is known of it does. */
  id: unknown;
  session: unknown;
  title?: string | undefined;
  agent: string;
  createdAt: unknown;
}

/** A message as a memory that begins with its speaker. */
export function turnOf(turn: ChatTurn): SourceMemory {
  const { role, text, id, session, title, agent, createdAt } = turn;
  return {
    content: `${SPEAKERS[role]}: ${text}`,
    agent,
    session,
    createdAt,
    metadata: { role, title },
    key:
      typeof id === "string"
        ? id
        : JSON.stringify([session ?? null, role, createdAt ?? null, text]),
  };
}

/**
 * A turn as a memory. The agent is the origin of its key, so that a turn that was captured and is
 * imported later remains one memory.
 */
export function turnMemory(agent: string, turn: Turn): SourceMemory {
  return turnOf({ ...turn, agent, id: turn.key, createdAt: turn.at });
}

/**
 * The text of a message in a transcript: its content is a text, or a list of texts and of parts with a `text`.
 * @param isSaid whether a part was said. Others are thoughts, tool calls and their results.
 */
export function saidText(content: unknown, isSaid: (part: JsonObject) => boolean): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) => {
      if (typeof part === "string") return part;
      return isObject(part) && isSaid(part) ? (stringOf(part.text) ?? []) : [];
    })
    .join("\n");
}

/** The text of a message: its content is a text, or a list of texts and of parts with a `text`. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content.trim();
  if (!Array.isArray(content)) return "";
  return content
    .map((part) => {
      if (typeof part === "string") return part;
      const isText = isObject(part) && (part.type === undefined || part.type === "text");
      return isText && typeof part.text === "string" ? part.text : "";
    })
    .filter((text) => text.trim() !== "")
    .join("\n\n")
    .trim();
}
