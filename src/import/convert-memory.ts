import { createIdFrom } from "../db/id.ts";
import { type ImportedMemory, LIMITS } from "../memories/model/memory.ts";
import { createSessionOrder } from "../memories/model/rows.ts";
import { isObject } from "../text/parse-json.ts";
import type { SourceMemory } from "./formats/format.ts";

/** The result of converting a memory of another program. */
export interface Converted {
  /** Several for a long text; none when there is no text. */
  memories: ImportedMemory[];
  /** What could not be converted, each the end of a sentence. */
  notes: string[];
}

/** The beginning of a code block, which needs a line of its own. */
const FENCE = /^(```|~~~)/;
/** Texts whose subjects are kept to detect equal texts. */
const MAX_KNOWN_TEXTS = 100_000;
/** Characters of a subject. Each part of a long text repeats it. */
const MAX_SUBJECT = 200;

/** How the memories of one import depend on each other. */
interface ImportContext {
  /** The project of memories that have none of their own. */
  project: string | null;
  /** Returns a time that keeps turns of a session in order. */
  inOrder: (session: string, at: number) => number;
  /** Makes the identity of equal texts with different subjects distinct. */
  identify: (start: string, subject: string) => Identities;
}

/** Returns the hash of an identity, by its end. */
type Identities = (end: string) => Bun.CryptoHasher;

/** The identities of a text's parts begin alike, possibly with the whole text, which is hashed only once. */
function createIdentities(start: string): Identities {
  const hash = new Bun.CryptoHasher("sha256").update(start);
  return (end) => hash.copy().update(end);
}

/** Converts a single memory, independently of others: see `createConverter`. */
export function convert(origin: string, source: SourceMemory): Converted {
  return convertIn(
    { project: null, inOrder: (_, at) => at, identify: createIdentities },
    origin,
    source,
  );
}

/**
 * Creates the function that converts the memories of an import. Their ids are derived from their
 * source, so that a repeated import changes nothing. No text is lost: a text that is too long becomes
 * several memories. Turns of a session keep their order.
 */
export function createConverter({ project }: { project: string | null }) {
  const subjects = new Map<string, string>();
  const identify = (start: string, subject: string) => {
    const plain = createIdentities(start);
    let withSubject: Identities | null = null;
    return (end: string) => {
      // The texts themselves would take gigabytes.
      const hash = plain(end).digest("base64");
      const known = subjects.get(hash) ?? subject;
      if (subjects.size < MAX_KNOWN_TEXTS) subjects.set(hash, known);
      if (known === subject) return plain(end);
      withSubject ??= createIdentities(JSON.stringify([subject, start]).slice(0, -2));
      return withSubject(`${JSON.stringify(end).slice(1)}]`);
    };
  };
  const context = { project, inOrder: createSessionOrder(), identify };
  return (origin: string, source: SourceMemory) => convertIn(context, origin, source);
}

/** @param origin the namespace of the source's keys */
function convertIn(
  { project, inOrder, identify }: ImportContext,
  origin: string,
  source: SourceMemory,
): Converted {
  const notes: string[] = [];
  const note = (text: string) => void notes.push(text);
  const content = source.content.toWellFormed();
  const subject = prefixOf(source.subject);
  const tags = toTags(source.tags, note);
  const extra: Record<string, unknown> = {};
  const agentId = toIdentifier(source.agent, "agent", extra);
  const sessionId = toIdentifier(source.session, "session", extra);
  const ofProject = toIdentifier(source.project, "project", extra) ?? project;
  const createdAt = toTime(source.createdAt, note);
  const updatedAt = toTime(source.updatedAt, note);
  const expiresAt = toTime(source.expiresAt, note);
  // The identity is the JSON of origin, key and number of the part.
  const identityOf = identify(
    `${JSON.stringify([origin, source.key ?? content]).slice(0, -1)},`,
    subject,
  );
  const parts = split(content, LIMITS.content - subject.length - 1);
  const memories = parts.map((part, index) => {
    const isTurn = sessionId !== null && createdAt !== null;
    const created = isTurn ? inOrder(sessionId, createdAt) : createdAt;
    return {
      id: createIdFrom("mem", identityOf(`${index}]`)),
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

/** The text before a content: the subject and a colon; empty without a subject. */
function prefixOf(subject: string | null | undefined): string {
  const text = [...(subject ?? "").toWellFormed().replace(/\s+/g, " ").trim()];
  return text.length === 0 ? "" : `${text.slice(0, MAX_SUBJECT).join("").trimEnd()}:`;
}

function isShare(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= 1;
}

function toText(time: number): string {
  return new Date(time).toISOString();
}

/** Splits a text at the end of a paragraph, a line, a sentence or a word. */
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

/** The end of the first part, in UTF-16 units: each character has at least one. */
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
  if (cut.length > LIMITS.tags) note(`only the first ${LIMITS.tags} tags were kept`);
  return cut.slice(0, LIMITS.tags);
}

/** The value as an identifier. A value that is too long goes to the metadata. */
function toIdentifier(value: unknown, name: string, extra: Record<string, unknown>): string | null {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text !== "string" || text === "") return null;
  const wellFormed = text.toWellFormed();
  if ([...wellFormed].length <= LIMITS.identifier) return wellFormed;
  extra[name] = wellFormed;
  return null;
}

function toMetadata(own: object, theirs: unknown, note: (text: string) => void) {
  const all = { ...(isObject(theirs) && theirs), ...own };
  const given = Object.entries(all).filter(([, value]) => value !== null && value !== undefined);
  const metadata = Object.fromEntries(given);
  if (Buffer.byteLength(JSON.stringify(metadata)) <= LIMITS.metadata) return metadata;
  note(`metadata of more than ${LIMITS.metadata} bytes was left out`);
  return {};
}

/** From this number on, a time is in milliseconds; as seconds it would be the year 5138. */
const MIN_MILLISECONDS = 100_000_000_000;
const HAS_TIME = /T\d|\d:\d/;
const HAS_ZONE = /(z|utc|gmt|[+-]\d\d:?\d\d)\s*$/i;

/** A date or number as milliseconds since 1970; null when it is missing or invalid. */
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
  if (typeof number === "number") return number < MIN_MILLISECONDS ? number * 1_000 : number;
  // A time without a zone is UTC, so that a file means the same on every machine.
  const zoned = HAS_ZONE.test(text) && HAS_TIME.test(text) ? text : `${text.replace(" ", "T")}Z`;
  const time = Date.parse(HAS_TIME.test(text) ? zoned : `${text} UTC`);
  return Number.isNaN(time) ? Date.parse(text) : time;
}
