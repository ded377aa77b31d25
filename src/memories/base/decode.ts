import type { Data, RecordBatch, Table, Vector } from "apache-arrow";
import type { MemorySource } from "../model/memory.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import { memoryIdOf, type RowTypes, rowIds } from "./schema.ts";

type Rows = Table | RecordBatch;

/** Reads memories from their first rows. Missing columns have defaults. */
export function decodeMemories(rows: Rows): MemoryRow[] {
  return decodeEach(rows, decodeMemory);
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
export function decodeEach<Row>(rows: Rows, decode: (columns: Columns, row: number) => Row): Row[] {
  const batches = "batches" in rows ? rows.batches : [rows];
  return batches.flatMap((batch) => {
    const columns = columnsOf(batch);
    return Array.from({ length: batch.numRows }, (_, row) => decode(columns, row));
  });
}

export type Columns = ReturnType<typeof columnsOf>;

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
  /** Columns of lists, with the values of all lists, one after the other. */
  const known = new Map<string, { data: Data; values: Vector }>();
  const lists = (name: "tags" | "starts" | "vector") => {
    const before = known.get(name);
    if (before) return before;
    const [data] = column(name)?.data ?? [];
    const values = column(name)?.getChildAt(0);
    if (!data || !values) throw new Error(`there is no ${name}`);
    known.set(name, { data, values });
    return { data, values };
  };
  const span = ({ valueOffsets }: Data, row: number) =>
    [valueOffsets[row] ?? 0, valueOffsets[row + 1] ?? 0] as const;
  /** Arrow would make a slice and a vector for each list, as much work as all other columns together. */
  const list = <Value>(name: "tags" | "starts", row: number, as: (value: unknown) => Value) => {
    const { data, values } = lists(name);
    // The offsets of a null value are undefined.
    if (!data.getValid(row)) return [];
    const [start, end] = span(data, row);
    return Array.from({ length: end - start }, (_, n) => as(values.get(start + n)));
  };
  return {
    nullable,
    required<Name extends keyof RowTypes>(name: Name, row: number): RowTypes[Name]["TValue"] {
      const value = nullable(name, row);
      if (value === null) throw new Error(`row ${row} has no ${name}`);
      return value;
    },
    tags: (row: number) => list("tags", row, String),
    starts: (row: number) => (column("starts") ? list("starts", row, Number) : []),
    /** A view of the batch. */
    states(row: number): Int8Array {
      // Arrow would make two views of each value.
      const data = column("states")?.data[0];
      if (!data?.getValid(row)) return new Int8Array(0);
      const [start, end] = span(data, row);
      return new Int8Array(data.values.buffer, data.values.byteOffset + start, end - start);
    },
    /** A view of the batch. */
    vector(row: number): Float32Array {
      const { data, values } = lists("vector");
      return values.data[0]?.values.subarray(row * data.stride, (row + 1) * data.stride);
    },
  };
}
