import type { JsonObject } from "../json-lines.ts";

/** What a person or an agent said in a session, until the other one spoke. Never what a tool put out. */
export interface Turn {
  role: "user" | "assistant";
  text: string;
  /** ISO 8601; null where the transcript does not say. */
  at: string | null;
  /** The agent's own id of the session. */
  session: string | null;
  /** The folder that the agent worked in. */
  folder: string | null;
  /** Tells it from all others of the same agent, and stays the same when it is read again. */
  key: string;
}

/** How far a transcript has been read. */
export interface Place {
  /** Bytes, up to the end of a line. */
  offset: number;
  /** Time of the newest turn, in milliseconds since 1970. */
  at: number | null;
  session: string | null;
  folder: string | null;
}

/** Where a transcript begins. */
export const BEGINNING: Place = { offset: 0, at: null, session: null, folder: null };

/** A line of a transcript. */
export interface Entry {
  value: JsonObject;
  /** Its first byte, and the one after its end. */
  start: number;
  end: number;
}

/** A part of a turn, as one line of a transcript has it. */
export type Part = Omit<Turn, "session" | "folder">;

/** Reads the line of an agent's transcript; null for what nobody said. */
export type ReadEntry = (entry: Entry, place: Place) => Part | null;

/** How agents of a kind keep their transcripts. */
export interface TranscriptFormat {
  /** The agent's id, as in `ctxd connect`. */
  agent: string;
  /** For people: what the file is. */
  name: string;
  /** Whether a file is of this kind, by the objects that its first lines are. */
  recognises(first: readonly JsonObject[], head: string): boolean;
  /** Reads lines that are only ever appended; null where the whole file may be rewritten. */
  readEntry: ReadEntry | null;
}

/**
 * Joins what an agent said between two things that the person said: it speaks before and after each
 * use of a tool. What the person said stays as it was said.
 */
export function createTurnBuilder(place: Place) {
  let open: { parts: string[]; turn: Turn } | null = null;
  let last: Turn | null = null;

  const close = (): Turn | null => {
    const closed = open && { ...open.turn, text: open.parts.join("\n\n") };
    open = null;
    if (closed) last = closed;
    return closed;
  };

  return {
    /** Ends the turn that was open; null for none. */
    close,

    /** Takes a part. Returns the turn that it ends; a turn of the person is ended by what follows. */
    add(part: Part): Turn | null {
      const before = open?.turn ?? last;
      if (open?.turn.role === "assistant" && part.role === "assistant") {
        if (!open.parts.includes(part.text)) open.parts.push(part.text);
        return null;
      }
      // Some agents write down everything twice: as they show it, and as the model is told it.
      const isAgain = open?.parts.includes(part.text) || before?.text === part.text;
      if (before?.role === part.role && isAgain) return null;
      const closed = close();
      const { session, folder } = place;
      open = { parts: [part.text], turn: { ...part, session, folder } };
      return closed;
    },
  };
}

/** A string; null for anything else, and for an empty one. */
export function stringOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** A moment as milliseconds since 1970; null for none. */
export function momentOf(at: string | null): number | null {
  const moment = at === null ? Number.NaN : Date.parse(at);
  return Number.isNaN(moment) ? null : moment;
}

/** A text without elements of these names, in linear time whatever it is. */
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
