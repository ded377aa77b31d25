import type {
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  List,
  RecordBatch,
  Table,
  TimestampMillisecond,
  Uint64,
  Utf8,
  Vector,
} from "apache-arrow";
import { compact } from "./compact-vector.ts";
import {
  type MemoryFacts,
  type MemoryRow,
  memoryIdOf,
  rowIds,
  type SearchRow,
  type SearchScores,
  type StoredMemory,
} from "./rows.ts";

/** The types of the columns that are read back. */
type RowTypes = {
  id: Utf8;
  passage: Int32;
  passages: Int32;
  content: Utf8;
  tags: List<Utf8>;
  agent_id: Utf8;
  session_id: Utf8;
  importance: Float64;
  metadata: Utf8;
  created_at: TimestampMillisecond;
  updated_at: TimestampMillisecond;
  vector: FixedSizeList<Float32>;
  _rowid: Uint64;
  _distance: Float32;
  _score: Float32;
};

/** Columns that make up a `MemoryRow`. */
export const MEMORY_COLUMNS = [
  "id",
  "passages",
  "content",
  "tags",
  "agent_id",
  "session_id",
  "importance",
  "metadata",
  "created_at",
  "updated_at",
] as const satisfies (keyof RowTypes)[];

/** Reads rows with `MEMORY_COLUMNS`, each the first of its memory. */
export function decodeMemories(table: Table | RecordBatch): MemoryRow[] {
  return decodeRows(table, decodeMemory);
}

function decodeMemory({ required, nullable, tags }: Columns, row: number): MemoryRow {
  return {
    id: required("id", row),
    passages: required("passages", row),
    content: required("content", row),
    tags: tags(row),
    agentId: nullable("agent_id", row),
    sessionId: nullable("session_id", row),
    importance: required("importance", row),
    metadata: required("metadata", row),
    createdAt: required("created_at", row),
    updatedAt: required("updated_at", row),
  };
}

/** Reads whole rows: memories with their vectors, in no order. */
export function decodeStored(table: Table): StoredMemory[] {
  const vectors = new Map<string, Float32Array>();
  const memories = decodeRows(table, (columns, row) => {
    const { required, vector } = columns;
    // A copy: a view keeps the whole batch alive.
    vectors.set(required("id", row), vector(row).slice());
    return required("passage", row) === 0 ? decodeMemory(columns, row) : [];
  });
  return memories.flat().map(({ passages, ...memory }) => ({
    ...memory,
    vectors: rowIds(memory.id, passages).map((id) => {
      const vector = vectors.get(id);
      if (!vector) throw new Error(`the row ${id} is missing`);
      return vector;
    }),
  }));
}

/** Reads the ids of rows. */
export function decodeIds(table: Table): string[] {
  return decodeRows(table, ({ required }, row) => required("id", row));
}

/** Columns that make up `MemoryFacts`. */
export const FACT_COLUMNS = [
  "tags",
  "agent_id",
  "importance",
  "created_at",
  "updated_at",
] as const satisfies (keyof RowTypes)[];

/** Reads rows with `FACT_COLUMNS` one by one, each the first of its memory. */
export function* decodeFacts(table: Table): Generator<MemoryFacts> {
  for (const batch of table.batches) {
    const { required, nullable, tags } = columnsOf(batch);
    for (let row = 0; row < batch.numRows; row++) {
      yield {
        tags: tags(row),
        agentId: nullable("agent_id", row),
        importance: required("importance", row),
        createdAt: required("created_at", row),
        updatedAt: required("updated_at", row),
      };
    }
  }
}

/** Columns that make up a `SearchRow`, besides `vector`. */
export const SEARCH_COLUMNS = [...MEMORY_COLUMNS, "passage"] as const;

/** Reads rows with `SEARCH_COLUMNS`, with their vectors if there are any. They may be kept. */
export function decodeSearchRows(table: Table): SearchRow[] {
  const hasVector = table.schema.names.includes("vector");
  const shared = createSharing();
  return decodeRows(table, (columns, row) => {
    const { required, nullable, vector } = columns;
    const rowId = required("id", row);
    const own = { rowId, id: memoryIdOf(rowId), sessionId: shared(nullable("session_id", row)) };
    return {
      ...own,
      importance: required("importance", row),
      createdAt: required("created_at", row),
      updatedAt: required("updated_at", row),
      vector: hasVector ? compact(vector(row)) : null,
      memory: required("passage", row) === 0 ? memoryOf(columns, row, own) : null,
    };
  });

  function memoryOf(
    columns: Columns,
    row: number,
    { id, sessionId }: Pick<MemoryRow, "id" | "sessionId">,
  ) {
    const { agentId, metadata, tags, ...memory } = decodeMemory(columns, row);
    const texts = { agentId: shared(agentId), metadata: shared(metadata), tags: tags.map(shared) };
    return { ...memory, ...texts, id, sessionId };
  }
}

/** Gives the first of equal texts for each: agents, sessions and tags take 400 bytes a row else. */
function createSharing() {
  const known = new Map<string, string>();
  return <Text extends string | null>(text: Text): Text => {
    if (text === null) return text;
    const first = known.get(text);
    if (first === undefined) known.set(text, text);
    return (first as Text | undefined) ?? text;
  };
}

/** Reads what a search by vector (`_distance` of the dot product) or by words (`_score`) found out. */
export function decodeScores(table: Table): SearchScores[] {
  return decodeRows(table, ({ nullable }, row) => {
    const distance = nullable("_distance", row);
    return { cosine: distance === null ? null : 1 - distance, bm25: nullable("_score", row) ?? 0 };
  });
}

/** Reads where in the table rows are; see `RowCache`. */
export function decodeAddresses(table: Table): number[] {
  // The number of a fragment and, in the lower 32 bits, of a row in it.
  return decodeRows(table, ({ required }, row) => Number(required("_rowid", row)));
}

/** A batch at a time: for every value of a table, the library looks for the batch it is in. */
function decodeRows<Row>(
  table: Table | RecordBatch,
  decode: (columns: Columns, row: number) => Row,
): Row[] {
  const batches = "batches" in table ? table.batches : [table];
  return batches.flatMap((batch) => {
    const columns = columnsOf(batch);
    return Array.from({ length: batch.numRows }, (_, row) => decode(columns, row));
  });
}

type Columns = ReturnType<typeof columnsOf>;

function columnsOf(batch: RecordBatch) {
  const typed = batch as RecordBatch<RowTypes>;
  // Looked up once: the library makes a new vector each time.
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
  /** A column of lists, and what is in all of them, one after the other. */
  const lists = (name: "tags" | "vector") => {
    const [data] = column(name)?.data ?? [];
    const values = column(name)?.getChildAt(0);
    if (!data || !values) throw new Error(`there is no ${name}`);
    return { data, values };
  };
  let [tags, vectors]: (ReturnType<typeof lists> | undefined)[] = [];
  return {
    nullable,
    required<Name extends keyof RowTypes>(name: Name, row: number): RowTypes[Name]["TValue"] {
      const value = nullable(name, row);
      if (value === null) throw new Error(`row ${row} has no ${name}`);
      return value;
    },
    // The library makes a slice and a vector of each list: as much work as all the rest.
    tags(row: number): string[] {
      tags ??= lists("tags");
      const { data, values } = tags;
      const [start, end] = [data.valueOffsets[row] ?? 0, data.valueOffsets[row + 1] ?? 0];
      return Array.from({ length: end - start }, (_, n) => String(values.get(start + n)));
    },
    /** A view of the batch. */
    vector(row: number): Float32Array {
      vectors ??= lists("vector");
      const { data, values } = vectors;
      return values.data[0]?.values.subarray(row * data.stride, (row + 1) * data.stride);
    },
  };
}
