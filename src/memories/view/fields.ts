import { growFloats, growInts } from "../indexes/growing-arrays.ts";
import { createInterned } from "../indexes/interned.ts";
import { wasCaptured } from "../model/filter.ts";
import type { MemoryRow } from "../model/rows.ts";

/** Columns of whole numbers: of interned values, of 0 and 1 (`pinned`), and of a text's hash (`text`). */
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
/** Those whose numbers are of interned strings. */
const STRINGS = ["agent", "session", "project", "supersedes", "supersededBy"] as const;
const FLOATS = ["createdAt", "updatedAt", "expiresAt", "importance"] as const;
type Columns = Record<(typeof INTEGERS)[number], Int32Array<ArrayBuffer>> &
  Record<(typeof FLOATS)[number], Float64Array<ArrayBuffer>>;

/** Bytes of all numbers of a slot. */
const BYTES_PER_SLOT = INTEGERS.length * 4 + FLOATS.length * 8;

/** The fields of memories except their texts, one column for each field. */
export type Fields = ReturnType<typeof createFields>;

export function createFields() {
  /** By field, then by slot. A column is replaced by a longer one when it grows. */
  const columns = Object.fromEntries([
    ...INTEGERS.map((name) => [name, new Int32Array(0)]),
    ...FLOATS.map((name) => [name, new Float64Array(0)]),
  ]) as Columns;
  const strings = createInterned<string>((text) => text);
  const tagLists = createInterned<string[]>((tags) => JSON.stringify(tags));
  const startLists = createInterned<number[]>((starts) => starts.join());
  const sources = createInterned<NonNullable<MemoryRow["source"]>>((source) =>
    JSON.stringify(source),
  );
  /** How many memories have been superseded, expire, and were captured. */
  const counts = { superseded: 0, expiring: 0, captured: 0 };

  const stringOf = (column: Int32Array, slot: number) => strings.value(column[slot] ?? 0);

  return {
    columns,
    strings,
    tagLists,
    sources,
    counts,

    /** Bytes of memory that the fields take, about. */
    get bytes() {
      const own = columns.agent.length * BYTES_PER_SLOT;
      return own + strings.bytes + tagLists.bytes + startLists.bytes + sources.bytes;
    },

    put(slot: number, memory: MemoryRow): void {
      for (const name of INTEGERS) columns[name] = growInts(columns[name], slot + 1);
      for (const name of FLOATS) columns[name] = growFloats(columns[name], slot + 1);
      columns.agent[slot] = strings.take(memory.agentId);
      columns.session[slot] = strings.take(memory.sessionId);
      columns.project[slot] = strings.take(memory.project);
      columns.supersedes[slot] = strings.take(memory.supersedes);
      columns.supersededBy[slot] = strings.take(memory.supersededBy);
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
      for (const name of STRINGS) strings.release(columns[name][slot] ?? 0);
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
