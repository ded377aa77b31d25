import type { Filter } from "../filter.ts";
import { createGroups } from "../indexes/groups.ts";
import { growFloats, growInts } from "../indexes/grow.ts";
import { createInterned } from "../indexes/interned.ts";
import type { Accepts } from "../indexes/largest.ts";
import type { MemoryRow } from "../rows.ts";

/**
 * The fields of memories, a column each, so that a million takes little and is filtered quickly.
 * Each memory has a slot, a small whole number. That of a removed memory is used again.
 */
export interface Columns {
  /** How many memories there are. */
  readonly size: number;
  /** Bytes of memory that they take, about. */
  readonly bytes: number;
  slotOf(id: string): number | undefined;
  /** All slots are below it. */
  readonly end: number;
  /** Whether a memory is in a slot. */
  has(slot: number): boolean;
  /** Slots of a session, the one that was added last first. */
  ofSession(sessionId: string): IterableIterator<number>;
  /** What tells whether the memory in a slot passes a filter; `null` when all do. */
  accepts(filter: Filter): Accepts;
  id(slot: number): string;
  content(slot: number): string;
  createdAt(slot: number): number;
  row(slot: number): MemoryRow;
  /** Adds a memory that is not there, and returns its slot. */
  add(memory: MemoryRow): number;
  remove(slot: number): void;
}

const INTEGERS = [
  ...(["agent", "session", "project", "tags", "metadata", "source", "supersedes"] as const),
  "pinned",
] as const;
const FLOATS = ["createdAt", "updatedAt", "expiresAt", "importance"] as const;
type Numbers = Record<(typeof INTEGERS)[number], Int32Array<ArrayBuffer>> &
  Record<(typeof FLOATS)[number], Float64Array<ArrayBuffer>>;

/** Bytes of a slot's numbers, and of its id and content without its letters. */
const SLOT = INTEGERS.length * 4 + FLOATS.length * 8;
const TEXTS = 200;
const WIDE = /[^\0-\xff]/;

export function createColumns(): Columns {
  const slots = new Map<string, number>();
  const texts = { ids: [] as (string | null)[], contents: [] as string[], bytes: 0 };
  const free: number[] = [];
  const columns = Object.fromEntries([
    ...INTEGERS.map((name) => [name, new Int32Array(0)]),
    ...FLOATS.map((name) => [name, new Float64Array(0)]),
  ]) as Numbers;
  const sessions = createGroups();
  const strings = createInterned<string>((text) => text);
  const tagLists = createInterned<string[]>((tags) => JSON.stringify(tags));
  const sources = createInterned<NonNullable<MemoryRow["source"]>>((source) =>
    JSON.stringify(source),
  );

  const takeSlot = (): number => {
    const known = free.pop();
    if (known !== undefined) return known;
    const slot = texts.ids.length;
    for (const name of INTEGERS) columns[name] = growInts(columns[name], slot + 1);
    for (const name of FLOATS) columns[name] = growFloats(columns[name], slot + 1);
    return slot;
  };

  const stringOf = (column: Int32Array, slot: number) => strings.value(column[slot] ?? 0);

  const accepts = (filter: Filter): Accepts => {
    const {
      tags: wanted = [],
      tagsMatch,
      agentId,
      sessionId,
      createdAfter,
      createdBefore,
    } = filter;
    const agent = agentId === undefined ? null : strings.find(agentId);
    const session = sessionId === undefined ? null : strings.find(sessionId);
    const since = createdAfter ?? Number.NEGATIVE_INFINITY;
    const until = createdBefore ?? Number.POSITIVE_INFINITY;
    const isOpen = agent === null && session === null && wanted.length === 0;
    if (isOpen && since === -until) return null;
    const hasTags = (list: number) => {
      const tags = tagLists.value(list) ?? [];
      const has = (tag: string) => tags.includes(tag);
      return tagsMatch === "all" ? wanted.every(has) : wanted.some(has);
    };
    return (slot) => {
      const createdAt = columns.createdAt[slot] ?? 0;
      return (
        (agent === null || columns.agent[slot] === agent) &&
        (session === null || columns.session[slot] === session) &&
        createdAt >= since &&
        createdAt < until &&
        (wanted.length === 0 || hasTags(columns.tags[slot] ?? 0))
      );
    };
  };

  return {
    get size() {
      return slots.size;
    },
    get bytes() {
      const own = columns.agent.length * SLOT + slots.size * TEXTS + texts.bytes;
      return own + sessions.bytes + strings.bytes + tagLists.bytes + sources.bytes;
    },
    accepts,
    slotOf: (id) => slots.get(id),
    get end() {
      return texts.ids.length;
    },
    has: (slot) => (texts.ids[slot] ?? null) !== null,
    ofSession: (sessionId) => sessions.members(strings.find(sessionId)),
    id: (slot) => texts.ids[slot] ?? "",
    content: (slot) => texts.contents[slot] ?? "",
    createdAt: (slot) => columns.createdAt[slot] ?? 0,

    row(slot) {
      const expiresAt = columns.expiresAt[slot] ?? Number.NaN;
      return {
        id: texts.ids[slot] ?? "",
        content: texts.contents[slot] ?? "",
        tags: tagLists.value(columns.tags[slot] ?? 0) ?? [],
        agentId: stringOf(columns.agent, slot),
        sessionId: stringOf(columns.session, slot),
        project: stringOf(columns.project, slot),
        importance: columns.importance[slot] ?? 0,
        pinned: columns.pinned[slot] === 1,
        supersedes: stringOf(columns.supersedes, slot),
        metadata: stringOf(columns.metadata, slot) ?? "",
        source: sources.value(columns.source[slot] ?? 0),
        createdAt: columns.createdAt[slot] ?? 0,
        updatedAt: columns.updatedAt[slot] ?? 0,
        expiresAt: Number.isNaN(expiresAt) ? null : expiresAt,
      };
    },

    add(memory) {
      const slot = takeSlot();
      slots.set(memory.id, slot);
      texts.ids[slot] = memory.id;
      texts.contents[slot] = memory.content;
      texts.bytes += bytesOf(memory.content);
      columns.agent[slot] = strings.take(memory.agentId);
      columns.session[slot] = strings.take(memory.sessionId);
      columns.project[slot] = strings.take(memory.project);
      columns.supersedes[slot] = strings.take(memory.supersedes);
      columns.metadata[slot] = strings.take(memory.metadata);
      columns.tags[slot] = tagLists.take(memory.tags);
      columns.source[slot] = sources.take(memory.source);
      columns.pinned[slot] = memory.pinned ? 1 : 0;
      for (const name of FLOATS) columns[name][slot] = memory[name] ?? Number.NaN;
      sessions.add(columns.session[slot] ?? 0, slot);
      return slot;
    },

    remove(slot) {
      sessions.remove(columns.session[slot] ?? 0, slot);
      slots.delete(texts.ids[slot] ?? "");
      texts.bytes -= bytesOf(texts.contents[slot] ?? "");
      texts.ids[slot] = null;
      texts.contents[slot] = "";
      for (const name of ["agent", "session", "project", "supersedes", "metadata"] as const) {
        strings.release(columns[name][slot] ?? 0);
      }
      tagLists.release(columns.tags[slot] ?? 0);
      sources.release(columns.source[slot] ?? 0);
      free.push(slot);
    },
  };
}

function bytesOf(text: string): number {
  return WIDE.test(text) ? 2 * text.length : text.length;
}
