import {
  type FixedSizeList,
  Float32,
  makeData,
  RecordBatch,
  type Schema,
  Struct,
  Table,
  vectorFromArray,
} from "apache-arrow";
import { rowIdOf, type StoredMemory } from "./rows.ts";

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
