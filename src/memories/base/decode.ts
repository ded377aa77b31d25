import type {
  Binary,
  Bool,
  Data,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  List,
  RecordBatch,
  Table,
  TimestampMillisecond,
  Utf8,
  Vector,
} from "apache-arrow";
import type { Position } from "../model/filter.ts";
import type { MemorySource } from "../model/memory.ts";
import type { Expiring, MemoryRow, StoredMemory } from "../model/rows.ts";
import { memoryIdOf, rowIds } from "./schema.ts";

/** The types of the columns that are read back. */
type RowTypes = {
  id: Utf8;
  passage: Int32;
  passages: Int32;
  content: Utf8;
  words: Utf8;
  tags: List<Utf8>;
  agent_id: Utf8;
  session_id: Utf8;
  project: Utf8;
  importance: Float64;
  pinned: Bool;
  supersedes: Utf8;
  superseded_by: Utf8;
  metadata: Utf8;
  source_via: Utf8;
  source_by: Utf8;
  source_id: Utf8;
  created_at: TimestampMillisecond;
  updated_at: TimestampMillisecond;
  expires_at: TimestampMillisecond;
  starts: List<Int32>;
  states: Binary;
  vector: FixedSizeList<Float32>;
};

type Rows = Table | RecordBatch;

/** Reads memories from their first rows. Missing columns have defaults. */
export function decodeMemories(rows: Rows): MemoryRow[] {
  return decodeEach(rows, decodeMemory);
}

/** Reads the ids of rows. */
export function decodeIds(rows: Rows): string[] {
  return decodeEach(rows, ({ required }, row) => required("id", row));
}

/** Reads token states by the ids of memories. */
export function decodeStates(rows: Rows): Map<string, Int8Array> {
  return new Map(
    decodeEach(rows, ({ required, states }, row) => [required("id", row), states(row).slice()]),
  );
}

/** Reads the words of each memory: one string, with spaces between words. */
export function decodeWords(rows: Rows): string[] {
  return decodeEach(rows, ({ nullable }, row) => nullable("words", row) ?? "");
}

/** Reads the positions of memories in a list. */
export function decodePositions(rows: Rows): Position[] {
  return decodeEach(rows, ({ required }, row) => ({
    id: required("id", row),
    createdAt: required("created_at", row),
  }));
}

/** Reads the ids and times of memories that expire. */
export function decodeExpiring(rows: Rows): Expiring[] {
  return decodeEach(rows, ({ required }, row) => ({
    id: required("id", row),
    expiresAt: required("expires_at", row),
  }));
}

/**
 * Assembles memories from rows in any order. Earlier versions of this program moved rows, so the passages of a
 * memory may be far apart.
 */
export function createAssembly() {
  /** Memories of which some rows have not been read yet. */
  const partial = new Map<string, Partial>();

  return {
    /**
     * Reads rows with all columns.
     * @returns the memories that these rows complete. Their vectors and states are views of the batch, which
     * stays in memory as long as one of them
     */
    add(rows: Rows): StoredMemory[] {
      return decodeEach(rows, (columns, row) => {
        const { required, vector, states } = columns;
        const passage = required("passage", row);
        const passages = required("passages", row);
        if (passages === 1) {
          const memory = decodeMemory(columns, row);
          return [{ ...memory, vectors: [vector(row)], states: states(row) }];
        }
        const id = memoryIdOf(required("id", row));
        const known = partial.get(id) ?? { first: null, passages, vectors: new Map() };
        partial.set(id, known);
        known.vectors.set(passage, vector(row).slice());
        if (passage === 0) known.first = { ...decodeMemory(columns, row), states: states(row) };
        if (!known.first || known.vectors.size < passages) return [];
        partial.delete(id);
        const vectors = [...known.vectors].sort(([a], [b]) => a - b).map(([, each]) => each);
        return [{ ...known.first, vectors }];
      }).flat();
    },

    /** Ids of the missing rows of incomplete memories. */
    missing(): string[] {
      return [...partial].flatMap(([id, { passages, vectors }]) =>
        rowIds(id, passages).filter((_, passage) => !vectors.has(passage)),
      );
    },

    /** @throws Error when a memory is incomplete */
    end(): void {
      for (const [id, { first }] of partial) {
        if (first) throw new Error(`rows of the memory ${id} are missing`);
      }
    },
  };
}

interface Partial {
  /** From its first row. */
  first: Omit<StoredMemory, "vectors"> | null;
  passages: number;
  vectors: Map<number, Float32Array>;
}

function decodeMemory(columns: Columns, row: number): MemoryRow {
  const { required, nullable, tags, starts } = columns;
  return {
    id: required("id", row),
    content: required("content", row),
    tags: tags(row),
    agentId: nullable("agent_id", row),
    sessionId: nullable("session_id", row),
    project: nullable("project", row),
    importance: required("importance", row),
    pinned: nullable("pinned", row) ?? false,
    supersedes: nullable("supersedes", row),
    supersededBy: nullable("superseded_by", row),
    metadata: required("metadata", row),
    source: sourceOf(columns, row),
    createdAt: required("created_at", row),
    updatedAt: required("updated_at", row),
    expiresAt: nullable("expires_at", row),
    starts: starts(row),
  };
}

function sourceOf({ nullable }: Columns, row: number): MemorySource | null {
  const via = nullable("source_via", row);
  if (via === null) return null;
  const [by, id] = [nullable("source_by", row) ?? "", nullable("source_id", row) ?? ""];
  return { via: via as MemorySource["via"], by, id };
}

/** Decodes a batch at a time: for each value of a table, Arrow would search for the batch that has it. */
function decodeEach<Row>(rows: Rows, decode: (columns: Columns, row: number) => Row): Row[] {
  const batches = "batches" in rows ? rows.batches : [rows];
  return batches.flatMap((batch) => {
    const columns = columnsOf(batch);
    return Array.from({ length: batch.numRows }, (_, row) => decode(columns, row));
  });
}

type Columns = ReturnType<typeof columnsOf>;

function columnsOf(batch: RecordBatch) {
  const typed = batch as RecordBatch<RowTypes>;
  // Each column is looked up once: Arrow makes a new vector at each call.
  const found = new Map<keyof RowTypes, Vector | null>();
  const column = <Name extends keyof RowTypes>(name: Name): Vector<RowTypes[Name]> | null => {
    const known = found.get(name);
    if (known !== undefined) return known;
    const vector = typed.getChild(name);
    found.set(name, vector);
    return vector;
  };
  const nullable = <Name extends keyof RowTypes>(name: Name, row: number) =>
    column(name)?.get(row) ?? null;
  /** A column of lists, with the values of all lists, one after the other. */
  const lists = (name: "tags" | "starts" | "vector") => {
    const [data] = column(name)?.data ?? [];
    const values = column(name)?.getChildAt(0);
    if (!data || !values) throw new Error(`there is no ${name}`);
    return { data, values };
  };
  let [tags, starts, vectors]: (ReturnType<typeof lists> | undefined)[] = [];
  let states: Data<Binary> | undefined;
  return {
    nullable,
    required<Name extends keyof RowTypes>(name: Name, row: number): RowTypes[Name]["TValue"] {
      const value = nullable(name, row);
      if (value === null) throw new Error(`row ${row} has no ${name}`);
      return value;
    },
    // Arrow would make a slice and a vector for each list, as much work as all other columns together.
    tags(row: number): string[] {
      tags ??= lists("tags");
      const { data, values } = tags;
      const [start, end] = [data.valueOffsets[row] ?? 0, data.valueOffsets[row + 1] ?? 0];
      return Array.from({ length: end - start }, (_, n) => String(values.get(start + n)));
    },
    starts(row: number): number[] {
      if (!column("starts")) return [];
      starts ??= lists("starts");
      const { data, values } = starts;
      if (!data.getValid(row)) return [];
      const [start, end] = [data.valueOffsets[row] ?? 0, data.valueOffsets[row + 1] ?? 0];
      return Array.from({ length: end - start }, (_, n) => Number(values.get(start + n)));
    },
    /** A view of the batch. */
    states(row: number): Int8Array {
      // Arrow would make two views of each value.
      states ??= column("states")?.data[0];
      // The offsets of a null value are undefined.
      if (!states?.getValid(row)) return new Int8Array(0);
      const { valueOffsets, values } = states;
      const [start, end] = [valueOffsets[row] ?? 0, valueOffsets[row + 1] ?? 0];
      return new Int8Array(values.buffer, values.byteOffset + start, end - start);
    },
    /** A view of the batch. */
    vector(row: number): Float32Array {
      vectors ??= lists("vector");
      const { data, values } = vectors;
      return values.data[0]?.values.subarray(row * data.stride, (row + 1) * data.stride);
    },
  };
}
