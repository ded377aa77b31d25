import { createIdFrom } from "../db/id.ts";
import { type ImportedMemory, LIMITS } from "../memories/memory.ts";
import { createSessionOrder } from "../memories/session-order.ts";
import type { SourceMemory } from "./format.ts";

/** What a memory of another program becomes. */
export interface Converted {
  /** More than one for a long text; none when there is no text. */
  memories: ImportedMemory[];
  /** What could not be taken over, each the end of a sentence. */
  notes: string[];
}

/** Code, which begins on a line of its own. */
const FENCE = /^(```|~~~)/;
/** Texts whose subject is remembered. */
const REMEMBERED = 100_000;
/** Characters of a subject: it is said again in each part of a text. */
const MAX_SUBJECT = 200;

/** How texts of one import are brought in beside each other. */
interface Setting {
  /** The project of what does not say its own. */
  project: string | null;
  inOrder: (session: string, said: number) => number;
  identify: (identity: string, subject: string) => string;
}

/** Makes memories of one that another program kept, by itself: see `createConverter`. */
export function convert(origin: string, source: SourceMemory): Converted {
  return convertIn(
    { project: null, inOrder: (_, said) => said, identify: (identity) => identity },
    origin,
    source,
  );
}

/**
 * Makes what turns memories of other programs into ours: with ids that follow from where they come
 * from, and within our limits. Nothing of a text is lost: one that is too long becomes several. Turns
 * of a session keep their order.
 */
export function createConverter({ project }: { project: string | null }) {
  const subjects = new Map<string, string>();
  /** The same words below another heading say something else. */
  const identify = (identity: string, subject: string): string => {
    const known = subjects.get(identity) ?? subject;
    if (subjects.size < REMEMBERED) subjects.set(identity, known);
    return known === subject ? identity : JSON.stringify([subject, identity]);
  };
  const setting = { project, inOrder: createSessionOrder(), identify };
  return (origin: string, source: SourceMemory) => convertIn(setting, origin, source);
}

/** @param origin the kind of source, which its keys belong to */
function convertIn(
  { project, inOrder, identify }: Setting,
  origin: string,
  source: SourceMemory,
): Converted {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const content = source.content.toWellFormed();
  const subject = subjectOf(source.subject);
  const tags = toTags(source.tags, note);
  const extra: Record<string, unknown> = {};
  const agentId = toIdentifier(source.agent, "agent", extra);
  const sessionId = toIdentifier(source.session, "session", extra);
  const ofProject = toIdentifier(source.project, "project", extra) ?? project;
  const createdAt = toTime(source.createdAt, note);
  const updatedAt = toTime(source.updatedAt, note);
  const expiresAt = toTime(source.expiresAt, note);
  const identityOf = (index: number) => JSON.stringify([origin, source.key ?? content, index]);
  const parts = split(content, LIMITS.content - subject.length - 1);
  const memories = parts.map((part, index) => {
    const isTurn = sessionId !== null && createdAt !== null;
    const created = isTurn ? inOrder(sessionId, createdAt) : createdAt;
    return {
      id: createIdFrom("mem", identify(identityOf(index), subject)),
      content: subject === "" ? part : `${subject}${FENCE.test(part) ? "\n" : " "}${part}`,
      ...(tags.length > 0 && { tags }),
      ...(agentId !== null && { agent_id: agentId }),
      ...(sessionId !== null && { session_id: sessionId }),
      ...(ofProject !== null && { project: ofProject }),
      ...(isShare(source.importance) && { importance: source.importance }),
      metadata: toMetadata(
        { ...extra, ...(parts.length > 1 && { part: index + 1, parts: parts.length }) },
        source.metadata,
        note,
      ),
      ...(created !== null && { created_at: toText(created) }),
      ...(updatedAt !== null && { updated_at: toText(updatedAt) }),
      ...(expiresAt !== null && { expires_at: toText(expiresAt) }),
    };
  });
  return { memories, notes: [...new Set(notes)] };
}

/** What is said before a text; empty for nothing. */
function subjectOf(subject: string | null | undefined): string {
  const text = [...(subject ?? "").toWellFormed().replace(/\s+/g, " ").trim()];
  return text.length === 0 ? "" : `${text.slice(0, MAX_SUBJECT).join("").trimEnd()}:`;
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function toText(time: number): string {
  return new Date(time).toISOString();
}

/** Cuts a text into contents, where a paragraph, a line, a sentence or a word ends. */
function split(text: string, max: number): string[] {
  if (text.trim() === "") return [];
  if (text.length <= max) return [text];
  const parts: string[] = [];
  for (let rest = text.trim(); rest !== ""; ) {
    const end = endOfPart(rest, max);
    parts.push(rest.slice(0, end).trimEnd());
    rest = rest.slice(end).trimStart();
  }
  return parts;
}

/** In UTF-16 units, of which a character has at least one. */
function endOfPart(text: string, max: number): number {
  if (text.length <= max) return text.length;
  const window = text.slice(0, max);
  for (const mark of ["\n\n", "\n", ". ", " "]) {
    const at = window.lastIndexOf(mark);
    if (at > max / 2) return at + mark.length;
  }
  return window.isWellFormed() ? window.length : window.length - 1;
}

function toTags(value: unknown, note: (text: string) => void): string[] {
  const list = typeof value === "string" ? [value] : Array.isArray(value) ? value : [];
  const tags = list
    .filter((tag) => typeof tag === "string" || typeof tag === "number")
    .flatMap((tag) => String(tag).toWellFormed().split(","))
    .map((tag) => tag.trim().replace(/^#/, ""))
    .filter((tag) => tag !== "");
  const cut = [...new Set(tags.map((tag) => [...tag].slice(0, LIMITS.tag).join("").trim()))];
  if (tags.some((tag) => [...tag].length > LIMITS.tag)) {
    note(`tags were cut to ${LIMITS.tag} characters`);
  }
  if (cut.length > LIMITS.tags) note(`only the first ${LIMITS.tags} tags were taken`);
  return cut.slice(0, LIMITS.tags);
}

/** What is too long for an identifier goes to the metadata. */
function toIdentifier(value: unknown, name: string, extra: Record<string, unknown>): string | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "") return null;
  const wellFormed = text.toWellFormed();
  if ([...wellFormed].length <= LIMITS.identifier) return wellFormed;
  extra[name] = wellFormed;
  return null;
}

function toMetadata(own: object, theirs: unknown, note: (text: string) => void) {
  const isObject = typeof theirs === "object" && theirs !== null && !Array.isArray(theirs);
  const all = { ...(isObject ? theirs : {}), ...own };
  const said = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  const metadata = Object.fromEntries(said);
  if (Buffer.byteLength(JSON.stringify(metadata)) <= LIMITS.metadata) return metadata;
  note(`metadata of more than ${LIMITS.metadata} bytes was left out`);
  return {};
}

/** From here on, a number counts milliseconds, not seconds: the latter would be the year 5138. */
const MILLISECONDS = 100_000_000_000;
const HAS_TIME = /T\d|\d:\d/;
const HAS_ZONE = /(z|utc|gmt|[+-]\d\d:?\d\d)\s*$/i;

/** In milliseconds since 1970. */
function toTime(value: unknown, note: (text: string) => void): number | null {
  if (value === undefined || value === null || value === "") return null;
  const time = timeOf(value);
  if (Number.isFinite(time) && time >= 0 && time < Date.UTC(10_000, 0)) return Math.floor(time);

  note("a date that can't be read was left out");
  return null;
}

function timeOf(value: unknown): number {
  if (value instanceof Date) return value.getTime();
  const text = typeof value === "string" ? value.trim() : "";
  const number = /^\d+(\.\d+)?$/.test(text) && text.length > 4 ? Number(text) : value;
  if (typeof number === "number") return number < MILLISECONDS ? number * 1_000 : number;
  // Without a zone, UTC: the same file must mean the same everywhere.
  const zoned = HAS_ZONE.test(text) && HAS_TIME.test(text) ? text : `${text.replace(" ", "T")}Z`;
  const time = Date.parse(HAS_TIME.test(text) ? zoned : `${text} UTC`);
  return Number.isNaN(time) ? Date.parse(text) : time;
}
