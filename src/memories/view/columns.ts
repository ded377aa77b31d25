import { type Filter, wasCaptured } from "../filter.ts";
import { firstInOrder } from "../indexes/first-in-order.ts";
import { createGroups } from "../indexes/groups.ts";
import { growFloats, growInts } from "../indexes/growing-arrays.ts";
import { createInterned, type Interned } from "../indexes/interned.ts";
import type { Accepts } from "../indexes/largest.ts";
import { createSlots } from "../indexes/slots.ts";
import { createTexts } from "../indexes/texts.ts";
import type { Among } from "../indexes/words.ts";
import type { Expiring, MemoryRow } from "../rows.ts";
import { isSameText } from "../same-text.ts";

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
  /** Slots of memories with the same text. */
  withText(content: string): number[];
  /** Slots of a session, the one that was added last first. */
  ofSession(sessionId: string): IterableIterator<number>;
  /** What tells whether the memory in a slot passes a filter; `null` when all do. */
  accepts(filter: Filter): Accepts;
  /** Memories that expire, the first to do so first. */
  expiring(limit: number): Expiring[];
  /** The memories by which a word is rare in what a filter lets pass; undefined where that is all. */
  among(filter: Filter): Among | undefined;
  id(slot: number): string;
  content(slot: number): string;
  createdAt(slot: number): number;
  row(slot: number): MemoryRow;
  /** Adds a memory that is not there, and returns its slot. */
  add(memory: MemoryRow): number;
  remove(slot: number): void;
  /** Gives its memory to others. */
  close(): void;
}

const INTEGERS = [
  "agent",
  "session",
  "project",
  "supersedes",
  "supersededBy",
  "tags",
  "source",
  "pinned",
  "starts",
  "text",
] as const;
/** Of these, the ones that are numbers of texts. */
const TEXTS = ["agent", "session", "project", "supersedes", "supersededBy"] as const;
const FLOATS = ["createdAt", "updatedAt", "expiresAt", "importance"] as const;
type Numbers = Record<(typeof INTEGERS)[number], Int32Array<ArrayBuffer>> &
  Record<(typeof FLOATS)[number], Float64Array<ArrayBuffer>>;

/** Where a slot's texts are among all texts. */
const idAt = (slot: number) => 3 * slot;
const contentAt = (slot: number) => 3 * slot + 1;
const metadataAt = (slot: number) => 3 * slot + 2;
/** Metadata that most memories have, for which nothing is kept. */
const NO_METADATA = "{}";
/** Bytes of a slot's numbers. */
const SLOT = INTEGERS.length * 4 + FLOATS.length * 8;

export function createColumns(): Columns {
  const texts = createTexts();
  const slots = createSlots((slot) => texts.get(idAt(slot)));
  const columns = Object.fromEntries([
    ...INTEGERS.map((name) => [name, new Int32Array(0)]),
    ...FLOATS.map((name) => [name, new Float64Array(0)]),
  ]) as Numbers;
  const sessions = createGroups();
  const strings = createInterned<string>((text) => text);
  const tagLists = createInterned<string[]>((tags) => JSON.stringify(tags));
  const startLists = createInterned<number[]>((starts) => starts.join());
  const sources = createInterned<NonNullable<MemoryRow["source"]>>((source) =>
    JSON.stringify(source),
  );

  /** How many have been superseded, how many expire, and how many were captured. */
  let [superseded, expiring, captured] = [0, 0, 0];

  const stringOf = (column: Int32Array, slot: number) => strings.value(column[slot] ?? 0);

  const accepts = (filter: Filter): Accepts => {
    const {
      tags = [],
      agentId,
      sessionId,
      projects,
      sourceId,
      isCaptured,
      createdAfter,
      createdBefore,
    } = filter;
    const { agent, session, project, source, tags: lists } = columns;
    const { supersededBy, createdAt, expiresAt } = columns;
    const tests: Exclude<Accepts, null>[] = [];
    if (agentId !== undefined) {
      const wanted = strings.find(agentId);
      tests.push((slot) => agent[slot] === wanted);
    }
    if (sessionId !== undefined) {
      const wanted = strings.find(sessionId);
      tests.push((slot) => session[slot] === wanted);
    }
    if (projects) {
      const wanted = projects.map(strings.find);
      tests.push((slot) => wanted.includes(project[slot] ?? 0));
    }
    if (sourceId !== undefined) {
      const isWanted = testOf(sources, ({ id }) => id === sourceId);
      tests.push((slot) => isWanted(source[slot] ?? 0));
    }
    if (isCaptured !== undefined && (isCaptured || captured > 0)) {
      const isWanted = testOf(sources, (source) => wasCaptured({ source }));
      tests.push((slot) => isWanted(source[slot] ?? 0) === isCaptured);
    }
    if (createdAfter !== undefined) tests.push((slot) => (createdAt[slot] ?? 0) >= createdAfter);
    if (createdBefore !== undefined) tests.push((slot) => (createdAt[slot] ?? 0) < createdBefore);
    if (tags.length > 0) {
      const has = (own: readonly string[]) => (tag: string) => own.includes(tag);
      const isTagged = testOf(tagLists, (own) =>
        filter.tagsMatch === "all" ? tags.every(has(own)) : tags.some(has(own)),
      );
      tests.push((slot) => isTagged(lists[slot] ?? 0));
    }
    // Few accounts have any: those of others are not asked about each memory.
    if (filter.isCurrent && superseded > 0) tests.push((slot) => supersededBy[slot] === 0);
    const { aliveAt } = filter;
    // Without a time it is not a number, and no number is less than that.
    if (aliveAt !== undefined && expiring > 0) {
      tests.push((slot) => !((expiresAt[slot] ?? 0) <= aliveAt));
    }
    if (filter.except?.length) {
      const left = new Set(filter.except.map(slots.find));
      tests.push((slot) => !left.has(slot));
    }
    const [first, ...rest] = tests;
    if (!first) return null;
    return rest.length === 0 ? first : (slot) => tests.every((test) => test(slot));
  };

  return {
    get size() {
      return slots.size;
    },
    get end() {
      return slots.end;
    },
    get bytes() {
      const own = columns.agent.length * SLOT + slots.bytes + texts.bytes;
      const lists = tagLists.bytes + startLists.bytes;
      return own + sessions.bytes + strings.bytes + lists + sources.bytes;
    },
    slotOf: slots.find,
    has: slots.has,
    accepts,
    withText(content) {
      const wanted = hashOf(content);
      const found: number[] = [];
      const { text } = columns;
      for (let slot = 0; slot < slots.end; slot++) {
        if (text[slot] === wanted && slots.has(slot)) found.push(slot);
      }
      return found.filter((slot) => isSameText(texts.get(contentAt(slot)), content));
    },
    ofSession: (sessionId) => sessions.members(strings.find(sessionId)),
    expiring(limit) {
      if (expiring === 0) return [];
      const at = (slot: number) => columns.expiresAt[slot] ?? 0;
      const expires = (slot: number) => slots.has(slot) && !Number.isNaN(at(slot));
      const found = firstInOrder(slots.end, expires, (a, b) => at(a) - at(b), limit);
      return found.map((slot) => ({ id: texts.get(idAt(slot)), expiresAt: at(slot) }));
    },
    among({ isCaptured, projects, isBound }) {
      // What was captured makes no word of what was saved less rare.
      const ofSaved = isCaptured === false && captured > 0 ? { isCaptured } : {};
      const ofProjects = isBound && projects ? { projects } : {};
      const has = accepts({ ...ofSaved, ...ofProjects });
      if (has === null) return undefined;
      if (!isBound) return { texts: slots.size - captured, has, isAll: false };
      let texts = 0;
      for (let slot = 0; slot < slots.end; slot++) if (slots.has(slot) && has(slot)) texts++;
      return { texts, has, isAll: true };
    },
    id: (slot) => texts.get(idAt(slot)),
    content: (slot) => texts.get(contentAt(slot)),
    createdAt: (slot) => columns.createdAt[slot] ?? 0,

    row(slot) {
      const expiresAt = columns.expiresAt[slot] ?? Number.NaN;
      return {
        id: texts.get(idAt(slot)),
        content: texts.get(contentAt(slot)),
        tags: tagLists.value(columns.tags[slot] ?? 0) ?? [],
        agentId: stringOf(columns.agent, slot),
        sessionId: stringOf(columns.session, slot),
        project: stringOf(columns.project, slot),
        importance: columns.importance[slot] ?? 0,
        pinned: columns.pinned[slot] === 1,
        supersedes: stringOf(columns.supersedes, slot),
        supersededBy: stringOf(columns.supersededBy, slot),
        metadata: texts.get(metadataAt(slot)) || NO_METADATA,
        source: sources.value(columns.source[slot] ?? 0),
        createdAt: columns.createdAt[slot] ?? 0,
        updatedAt: columns.updatedAt[slot] ?? 0,
        expiresAt: Number.isNaN(expiresAt) ? null : expiresAt,
        starts: startLists.value(columns.starts[slot] ?? 0) ?? [],
      };
    },

    add(memory) {
      const slot = slots.add(memory.id);
      for (const name of INTEGERS) columns[name] = growInts(columns[name], slot + 1);
      for (const name of FLOATS) columns[name] = growFloats(columns[name], slot + 1);
      texts.put(idAt(slot), memory.id);
      texts.put(contentAt(slot), memory.content);
      if (memory.metadata !== NO_METADATA) texts.put(metadataAt(slot), memory.metadata);
      columns.agent[slot] = strings.take(memory.agentId);
      columns.session[slot] = strings.take(memory.sessionId);
      columns.project[slot] = strings.take(memory.project);
      columns.supersedes[slot] = strings.take(memory.supersedes);
      columns.supersededBy[slot] = strings.take(memory.supersededBy);
      if (memory.supersededBy !== null) superseded++;
      if (memory.expiresAt !== null) expiring++;
      if (wasCaptured(memory)) captured++;
      columns.tags[slot] = tagLists.take(memory.tags);
      columns.starts[slot] = startLists.take(memory.starts.length > 0 ? memory.starts : null);
      columns.source[slot] = sources.take(memory.source);
      columns.pinned[slot] = memory.pinned ? 1 : 0;
      columns.text[slot] = hashOf(memory.content);
      for (const name of FLOATS) columns[name][slot] = memory[name] ?? Number.NaN;
      sessions.add(columns.session[slot] ?? 0, slot);
      return slot;
    },

    remove(slot) {
      sessions.remove(columns.session[slot] ?? 0, slot);
      if (columns.supersededBy[slot] !== 0) superseded--;
      if (!Number.isNaN(columns.expiresAt[slot])) expiring--;
      if (wasCaptured({ source: sources.value(columns.source[slot] ?? 0) })) captured--;
      slots.remove(slot);
      for (const place of [idAt(slot), contentAt(slot), metadataAt(slot)]) texts.remove(place);
      for (const name of TEXTS) {
        strings.release(columns[name][slot] ?? 0);
      }
      tagLists.release(columns.tags[slot] ?? 0);
      startLists.release(columns.starts[slot] ?? 0);
      sources.release(columns.source[slot] ?? 0);
    },

    close: texts.close,
  };
}

/** A number that is the same for the same text, of the kind that a column keeps. */
function hashOf(content: string): number {
  return Bun.hash.xxHash32(content.trim()) | 0;
}

/** What tells by the number of a value whether it passes a test, which is asked once for each value. */
function testOf<Value>(values: Interned<Value>, passes: (value: Value) => boolean) {
  const known = new Int8Array(values.end);
  return (number: number): boolean => {
    if (known[number] === 0) {
      const value = values.value(number);
      known[number] = value !== null && passes(value) ? 1 : -1;
    }
    return known[number] === 1;
  };
}
