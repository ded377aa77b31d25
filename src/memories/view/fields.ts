import { grow } from "../indexes/growing-arrays.ts";
import type { Accepts } from "../indexes/largest.ts";
import { createInterned, type Interned } from "../indexes/texts.ts";
import { applyTable } from "../model/field-table.ts";
import { type Conditions, type Filter, wasCaptured } from "../model/filter.ts";
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
  /** By the number of an id: when the memory was created, if it supersedes another one; NaN if it is missing. */
  let newerAt = new Float64Array(0);
  /** How many memories have been superseded, expire, and were captured. */
  const counts = { superseded: 0, expiring: 0, captured: 0 };

  const stringOf = (column: Int32Array, slot: number) => strings.value(column[slot] ?? 0);

  return {
    columns,
    strings,
    tagLists,
    sources,
    counts,
    get newerAt() {
      return newerAt;
    },

    get bytes() {
      const own = columns.agent.length * BYTES_PER_SLOT + newerAt.byteLength;
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

    /** Notes when a memory was created, for those that it supersedes; NaN when it is removed. */
    noteNewer(id: string, createdAt: number): void {
      const number = strings.find(id);
      if (number < 0) return;
      newerAt = grow(newerAt, number + 1);
      newerAt[number] = createdAt;
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

/**
 * A filter as a function of a slot; `null` when all memories pass.
 * @param slotOf the slot of an id
 */
export function filterConditions(
  fields: Fields,
  filter: Filter,
  slotOf: (id: string) => number | undefined,
): Accepts {
  const subject = { ...fields, slotOf };
  const conditions: Exclude<Accepts, null>[] = applyTable(CONDITIONS, filter, subject);
  const [first, ...rest] = conditions;
  if (!first) return null;
  return rest.length === 0 ? first : (slot) => conditions.every((condition) => condition(slot));
}

type Subject = Fields & { slotOf: (id: string) => number | undefined };

/** Each condition as a function of a slot. Null if all memories pass, as in most accounts: then none is tested. */
const CONDITIONS: Conditions<Subject, Accepts> = {
  agentId: (agentId, { columns: { agent }, strings }) => equals(agent, strings.find(agentId)),
  sessionId: (id, { columns: { session }, strings }) => equals(session, strings.find(id)),
  projects(projects, { columns: { project }, strings }) {
    const wanted = projects.map(strings.find);
    return (slot) => wanted.includes(project[slot] ?? 0);
  },
  sourceId(sourceId, { columns: { source }, sources }) {
    const isWanted = once(sources, ({ id }) => id === sourceId);
    return (slot) => isWanted(source[slot] ?? 0);
  },
  isCaptured(isCaptured, { columns: { source }, sources, counts }) {
    if (!isCaptured && counts.captured === 0) return null;
    const isWanted = once(sources, (source) => wasCaptured({ source }));
    return (slot) => isWanted(source[slot] ?? 0) === isCaptured;
  },
  isPinned: (isPinned, { columns: { pinned } }) => equals(pinned, isPinned ? 1 : 0),
  importanceFrom:
    (least, { columns: { importance } }) =>
    (slot) =>
      (importance[slot] ?? 0) >= least,
  createdAfter:
    (from, { columns: { createdAt } }) =>
    (slot) =>
      (createdAt[slot] ?? 0) >= from,
  createdBefore:
    (end, { columns: { createdAt } }) =>
    (slot) =>
      (createdAt[slot] ?? 0) < end,
  expiresBefore:
    (end, { columns: { expiresAt } }) =>
    (slot) =>
      (expiresAt[slot] ?? 0) < end,
  tags(wanted, { columns: { tags }, tagLists }, { tagsMatch }) {
    if (wanted.length === 0) return null;
    const has = (own: readonly string[]) => (tag: string) => own.includes(tag);
    const isTagged = once(tagLists, (own) =>
      tagsMatch === "all" ? wanted.every(has(own)) : wanted.some(has(own)),
    );
    return (slot) => isTagged(tags[slot] ?? 0);
  },
  knownAt:
    (time, { columns: { createdAt } }) =>
    (slot) =>
      (createdAt[slot] ?? 0) <= time,
  isCurrent(isCurrent, { columns: { supersededBy }, counts, newerAt }, { knownAt }) {
    if (!isCurrent || counts.superseded === 0) return null;
    if (knownAt === undefined) return equals(supersededBy, 0);
    return (slot) => {
      const newer = supersededBy[slot] ?? 0;
      return newer === 0 || (newerAt[newer] ?? Number.NaN) > knownAt;
    };
  },
  aliveAt(time, { columns: { expiresAt }, counts }) {
    if (counts.expiring === 0) return null;
    // Memories that never expire have NaN here, which is not less than any number.
    return (slot) => !((expiresAt[slot] ?? 0) <= time);
  },
  only(ids, { slotOf }) {
    const wanted = new Set(ids.map(slotOf));
    return (slot) => wanted.has(slot);
  },
  except(ids, { slotOf }) {
    if (ids.length === 0) return null;
    const excluded = new Set(ids.map(slotOf));
    return (slot) => !excluded.has(slot);
  },
};

const equals = (column: Int32Array, wanted: number) => (slot: number) => column[slot] === wanted;

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
