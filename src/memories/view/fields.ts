import { grow } from "../indexes/growing-arrays.ts";
import type { Accepts } from "../indexes/largest.ts";
import { createInterned, type Interned } from "../indexes/texts.ts";
import { type Filter, wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";

/** Columns of interned strings, each with its field. */
const STRINGS = {
  agent: "agentId",
  session: "sessionId",
  project: "project",
  supersedes: "supersedes",
  supersededBy: "supersededBy",
} as const;
const STRING_COLUMNS = Object.keys(STRINGS) as (keyof typeof STRINGS)[];
/** Columns of whole numbers: also of other interned values, of 0 and 1 (`pinned`), and of a text's hash (`text`). */
const INTEGERS = [...STRING_COLUMNS, "tags", "source", "pinned", "starts", "text"] as const;
const FLOATS = ["createdAt", "updatedAt", "expiresAt", "importance"] as const;
type Columns = Record<(typeof INTEGERS)[number], Int32Array<ArrayBuffer>> &
  Record<(typeof FLOATS)[number], Float64Array<ArrayBuffer>>;

/** Bytes of all numbers of a slot. */
const BYTES_PER_SLOT = INTEGERS.length * 4 + FLOATS.length * 8;

/** The fields of memories except their texts, one column for each field. */
type Fields = ReturnType<typeof createFields>;

export function createFields() {
  /** By field, then by slot. A column is replaced by a longer one when it grows. */
  const columns = Object.fromEntries([
    ...INTEGERS.map((name) => [name, new Int32Array(0)]),
    ...FLOATS.map((name) => [name, new Float64Array(0)]),
  ]) as Columns;
  const strings = createInterned<string>((text) => text);
  const tagLists = createInterned<string[]>(JSON.stringify);
  const startLists = createInterned<number[]>((starts) => starts.join());
  const sources = createInterned<NonNullable<MemoryRow["source"]>>(JSON.stringify);
  /** How many memories have been superseded, expire, and were captured. */
  const counts = { superseded: 0, expiring: 0, captured: 0 };

  const stringOf = (column: Int32Array, slot: number) => strings.value(column[slot] ?? 0);

  return {
    columns,
    strings,
    tagLists,
    sources,
    counts,

    get bytes() {
      const own = columns.agent.length * BYTES_PER_SLOT;
      return own + strings.bytes + tagLists.bytes + startLists.bytes + sources.bytes;
    },

    put(slot: number, memory: MemoryRow): void {
      for (const name of INTEGERS) columns[name] = grow(columns[name], slot + 1);
      for (const name of FLOATS) columns[name] = grow(columns[name], slot + 1);
      for (const name of STRING_COLUMNS) columns[name][slot] = strings.take(memory[STRINGS[name]]);
      columns.tags[slot] = tagLists.take(memory.tags);
      columns.starts[slot] = startLists.take(memory.starts.length > 0 ? memory.starts : null);
      columns.source[slot] = sources.take(memory.source);
      columns.pinned[slot] = memory.pinned ? 1 : 0;
      columns.text[slot] = textHash(memory.content);
      for (const name of FLOATS) columns[name][slot] = memory[name] ?? Number.NaN;
      if (memory.supersededBy !== null) counts.superseded++;
      if (memory.expiresAt !== null) counts.expiring++;
      if (wasCaptured(memory)) counts.captured++;
    },

    remove(slot: number): void {
      if (columns.supersededBy[slot] !== 0) counts.superseded--;
      if (!Number.isNaN(columns.expiresAt[slot])) counts.expiring--;
      if (wasCaptured({ source: sources.value(columns.source[slot] ?? 0) })) counts.captured--;
      for (const name of STRING_COLUMNS) strings.release(columns[name][slot] ?? 0);
      tagLists.release(columns.tags[slot] ?? 0);
      startLists.release(columns.starts[slot] ?? 0);
      sources.release(columns.source[slot] ?? 0);
    },

    /** The memory in a slot. Its texts are stored elsewhere. */
    row(
      slot: number,
      { id, content, metadata }: Pick<MemoryRow, "id" | "content" | "metadata">,
    ): MemoryRow {
      const expiresAt = columns.expiresAt[slot] ?? Number.NaN;
      return {
        id,
        content,
        tags: tagLists.value(columns.tags[slot] ?? 0) ?? [],
        agentId: stringOf(columns.agent, slot),
        sessionId: stringOf(columns.session, slot),
        project: stringOf(columns.project, slot),
        importance: columns.importance[slot] ?? 0,
        pinned: columns.pinned[slot] === 1,
        supersedes: stringOf(columns.supersedes, slot),
        supersededBy: stringOf(columns.supersededBy, slot),
        metadata,
        source: sources.value(columns.source[slot] ?? 0),
        createdAt: columns.createdAt[slot] ?? 0,
        updatedAt: columns.updatedAt[slot] ?? 0,
        expiresAt: Number.isNaN(expiresAt) ? null : expiresAt,
        starts: startLists.value(columns.starts[slot] ?? 0) ?? [],
      };
    },
  };
}

/** The hash of a text without the white space around it, as the column `text` has it. */
export function textHash(content: string): number {
  return Bun.hash.xxHash32(content.trim()) | 0;
}

type Condition = Exclude<Accepts, null>;

/**
 * A filter as a function of a slot; `null` when all memories pass.
 * @param slotOf the slot of an id
 */
export function filterConditions(
  fields: Fields,
  filter: Filter,
  slotOf: (id: string) => number | undefined,
): Accepts {
  const conditions = [
    ...valueConditions(fields, filter),
    ...tagConditions(fields, filter),
    ...stateConditions(fields, filter),
  ];
  if (filter.except?.length) {
    const excluded = new Set(filter.except.map(slotOf));
    conditions.push((slot) => !excluded.has(slot));
  }
  const [first, ...rest] = conditions;
  if (!first) return null;
  return rest.length === 0 ? first : (slot) => conditions.every((condition) => condition(slot));
}

/** Conditions for single values of a memory: agent, session, project, source, capture and time of creation. */
function* valueConditions(
  { columns, strings, sources, counts }: Fields,
  filter: Filter,
): Generator<Condition> {
  const { agentId, sessionId, projects, sourceId, isCaptured } = filter;
  const { createdAfter, createdBefore } = filter;
  const { agent, session, project, source, createdAt } = columns;
  if (agentId !== undefined) {
    const wanted = strings.find(agentId);
    yield (slot) => agent[slot] === wanted;
  }
  if (sessionId !== undefined) {
    const wanted = strings.find(sessionId);
    yield (slot) => session[slot] === wanted;
  }
  if (projects) {
    const wanted = projects.map(strings.find);
    yield (slot) => wanted.includes(project[slot] ?? 0);
  }
  if (sourceId !== undefined) {
    const isWanted = once(sources, ({ id }) => id === sourceId);
    yield (slot) => isWanted(source[slot] ?? 0);
  }
  if (isCaptured !== undefined && (isCaptured || counts.captured > 0)) {
    const isWanted = once(sources, (source) => wasCaptured({ source }));
    yield (slot) => isWanted(source[slot] ?? 0) === isCaptured;
  }
  if (createdAfter !== undefined) yield (slot) => (createdAt[slot] ?? 0) >= createdAfter;
  if (createdBefore !== undefined) yield (slot) => (createdAt[slot] ?? 0) < createdBefore;
}

function* tagConditions(
  { columns, tagLists }: Fields,
  { tags = [], tagsMatch }: Filter,
): Generator<Condition> {
  if (tags.length === 0) return;
  const lists = columns.tags;
  const has = (own: readonly string[]) => (tag: string) => own.includes(tag);
  const isTagged = once(tagLists, (own) =>
    tagsMatch === "all" ? tags.every(has(own)) : tags.some(has(own)),
  );
  yield (slot) => isTagged(lists[slot] ?? 0);
}

/** Conditions that all memories of most accounts meet. Those accounts are spared the test of each memory. */
function* stateConditions(
  { columns, counts }: Fields,
  { isCurrent, aliveAt }: Filter,
): Generator<Condition> {
  const { supersededBy, expiresAt } = columns;
  if (isCurrent && counts.superseded > 0) yield (slot) => supersededBy[slot] === 0;
  if (aliveAt !== undefined && counts.expiring > 0) {
    // Memories that never expire have NaN here, which is not less than any number.
    yield (slot) => !((expiresAt[slot] ?? 0) <= aliveAt);
  }
}

/** Tests interned values by their numbers: each value once, when it is first met. */
function once<Value>(values: Interned<Value>, passes: (value: Value) => boolean) {
  const results = new Int8Array(values.end);
  return (number: number): boolean => {
    if (results[number] === 0) {
      const value = values.value(number);
      results[number] = value !== null && passes(value) ? 1 : -1;
    }
    return results[number] === 1;
  };
}
