import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  List,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  TimestampMillisecond,
  type Uint64,
  Utf8,
  type Vector,
  vectorFromArray,
} from "apache-arrow";
import type { EmbeddingModel } from "../embedding/embedder.ts";
import { type CompactVector, compact } from "./compact-vector.ts";
import type { Memory } from "./memory.ts";

/** A memory as it is kept: the public fields, with times as numbers, and its vectors. */
export interface StoredMemory {
  id: string;
  content: string;
  tags: string[];
  agentId: string | null;
  sessionId: string | null;
  importance: number;
  /** JSON text, so that what comes out is what went in. */
  metadata: string;
  /** Milliseconds since 1970. */
  createdAt: number;
  updatedAt: number;
  /** One for each passage of the content, at least one. */
  vectors: Float32Array[];
}

/** A memory without its vectors, and how many there are. */
export type MemoryRow = Omit<StoredMemory, "vectors"> & { passages: number };

/** The public form of a stored memory. */
export function toMemory(stored: StoredMemory | MemoryRow): Memory {
  return {
    id: stored.id,
    content: stored.content,
    tags: stored.tags,
    agent_id: stored.agentId,
    session_id: stored.sessionId,
    importance: stored.importance,
    metadata: JSON.parse(stored.metadata),
    created_at: new Date(stored.createdAt).toISOString(),
    updated_at: new Date(stored.updatedAt).toISOString(),
  };
}

/** Ids of all rows of a memory: its own, then those of its further passages. */
export function rowIds(id: string, passages: number): string[] {
  return Array.from({ length: passages }, (_, passage) => rowIdOf(id, passage));
}

function rowIdOf(id: string, passage: number): string {
  return passage ? `${id}#${passage}` : id;
}

/** The memory that a row belongs to. */
export function memoryIdOf(rowId: string): string {
  const end = rowId.indexOf("#");
  return end < 0 ? rowId : rowId.slice(0, end);
}

/**
 * The schema of an account's table. Row 0 of a memory has its text; each further passage has a row
 * with its own vector, the columns that filters and ranking read, and no text. The primary key
 * makes concurrent upserts of one id conflict instead of duplicating it.
 */
export function tableSchema(model: EmbeddingModel): Schema {
  const required = (name: string, type: Field["type"]) => new Field(name, type, false);
  return new Schema(
    [
      new Field(
        "id",
        new Utf8(),
        false,
        new Map([["lance-schema:unenforced-primary-key", "true"]]),
      ),
      required("passage", new Int32()),
      required("passages", new Int32()),
      new Field("content", new Utf8(), true),
      required("tags", new List(new Field("item", new Utf8(), true))),
      new Field("agent_id", new Utf8(), true),
      new Field("session_id", new Utf8(), true),
      required("importance", new Float64()),
      new Field("metadata", new Utf8(), true),
      required("created_at", new TimestampMillisecond("UTC")),
      required("updated_at", new TimestampMillisecond("UTC")),
      required("vector", vectorType(model.dimension)),
    ],
    new Map([
      ["ctxd.model", model.id],
      ["ctxd.dimension", String(model.dimension)],
      ["ctxd.manifest", JSON.stringify(model)],
    ]),
  );
}

const RecordedModel = Type.Object({
  id: Type.String(),
  dimension: Type.Integer({ minimum: 1 }),
  cosines: Type.Object({ unrelated: Type.Number(), same: Type.Number() }),
});

/** The model that a table says it was made with; early tables have no more than its name. */
export function recordedModel(
  { metadata, fields }: Schema,
  wanted: EmbeddingModel,
): EmbeddingModel {
  const id = metadata.get("ctxd.model") ?? "";
  if (id === wanted.id) return wanted;
  const manifest: unknown = JSON.parse(metadata.get("ctxd.manifest") ?? "null");
  if (Value.Check(RecordedModel, manifest)) return manifest;
  const cosines = { unrelated: 0.5, same: 1 };
  const type: FixedSizeList | undefined = fields.find(({ name }) => name === "vector")?.type;
  return { id, dimension: type?.listSize ?? wanted.dimension, cosines };
}

function vectorType(dimension: number) {
  return new FixedSizeList(dimension, new Field("item", new Float32(), true));
}

/**
 * Memories as one Arrow table. Columns are made directly: the library's own conversion from
 * objects takes ten times as long and pads a vector of the wrong length without a word.
 */
export function encodeRows(memories: readonly StoredMemory[], schema: Schema): Table {
  const rows = memories.flatMap((memory) =>
    memory.vectors.map((vector, passage) => ({ memory, vector, passage })),
  );
  const columns: Record<string, (row: (typeof rows)[number]) => unknown> = {
    id: ({ memory, passage }) => rowIdOf(memory.id, passage),
    passage: ({ passage }) => passage,
    passages: ({ memory }) => memory.vectors.length,
    content: ({ memory, passage }) => (passage ? null : memory.content),
    tags: ({ memory }) => memory.tags,
    agent_id: ({ memory }) => memory.agentId,
    session_id: ({ memory }) => memory.sessionId,
    importance: ({ memory }) => memory.importance,
    metadata: ({ memory, passage }) => (passage ? null : memory.metadata),
    created_at: ({ memory }) => memory.createdAt,
    updated_at: ({ memory }) => memory.updatedAt,
  };
  const children = schema.fields.map((field) => {
    const value = columns[field.name];
    if (!value)
      return encodeVectors(
        rows.map((row) => row.vector),
        field.type,
      );
    const [data] = vectorFromArray(rows.map(value), field.type).data;
    if (!data) throw new Error(`no data for the column ${field.name}`);
    return data;
  });
  const struct = new Struct(schema.fields);
  const data = makeData({ type: struct, length: rows.length, nullCount: 0, children });
  return new Table(schema, new RecordBatch(schema, data));
}

function encodeVectors(vectors: Float32Array[], type: FixedSizeList) {
  const flat = new Float32Array(vectors.length * type.listSize);
  vectors.forEach((vector, index) => {
    if (vector.length !== type.listSize) {
      throw new RangeError(`a vector has ${vector.length} numbers instead of ${type.listSize}`);
    }
    flat.set(vector, index * type.listSize);
  });
  const child = makeData({ type: new Float32(), data: flat });
  return makeData({ type, length: vectors.length, nullCount: 0, child });
}

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

/** What statistics read of a memory. */
export type MemoryFacts = Pick<
  StoredMemory,
  "tags" | "agentId" | "importance" | "createdAt" | "updatedAt"
>;

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

/** A row that a search looks at, whatever the search. */
export interface SearchRow {
  readonly rowId: string;
  /** The memory's. */
  readonly id: string;
  readonly sessionId: string | null;
  readonly importance: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The row's own vector, where it was asked for. */
  readonly vector: CompactVector | null;
  /** `null` for a further passage, which does not have the memory's text. */
  readonly memory: MemoryRow | null;
}

/** What one search found out about a row. */
export interface SearchScores {
  /** −1 to 1, of the row's vector and the query; `null` where it was not compared. */
  readonly cosine: number | null;
  /** 0 and up; 0 where words were not compared. */
  readonly bm25: number;
}

/** A row with what ranking needs. */
export type Candidate = SearchRow & SearchScores;

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

/** The rows of a memory that was just written, as `decodeSearchRows` would read them. */
export function searchRowsOf({ vectors, ...memory }: StoredMemory): SearchRow[] {
  const { id, sessionId, importance, createdAt, updatedAt } = memory;
  const passages = vectors.length;
  return vectors.map((vector, passage) => ({
    ...{ rowId: rowIdOf(id, passage), id, sessionId, importance, createdAt, updatedAt },
    vector: compact(vector),
    memory: passage === 0 ? { ...memory, passages } : null,
  }));
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
    // The library makes a slice and a vector of each list, in ten times the time.
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
