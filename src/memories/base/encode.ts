// `import` would load a second copy of Arrow. LanceDB accepts only objects of its own copy.
import Arrow = require("apache-arrow");

import { createPause } from "../../timing/pause.ts";
import { tokensOf } from "../indexes/tokens.ts";
import type { StoredMemory } from "../model/rows.ts";
import { rowIdOf } from "./schema.ts";

type Value = (memory: StoredMemory, passage: number) => unknown;

/** The values of all columns except `passages` and `vector`. */
const VALUES: Readonly<Record<string, Value>> = {
  id: ({ id }, passage) => rowIdOf(id, passage),
  passage: (_, passage) => passage,
  content: ({ content }, passage) => (passage ? null : content),
  words: ({ content }, passage) => (passage ? null : wordsOf(content)),
  tags: ({ tags }) => tags,
  agent_id: ({ agentId }) => agentId,
  session_id: ({ sessionId }) => sessionId,
  project: ({ project }) => project,
  importance: ({ importance }) => importance,
  pinned: ({ pinned }) => pinned,
  supersedes: ({ supersedes }) => supersedes,
  superseded_by: ({ supersededBy }) => supersededBy,
  metadata: ({ metadata }, passage) => (passage ? null : metadata),
  source_via: ({ source }) => source?.via ?? null,
  source_by: ({ source }) => source?.by ?? null,
  source_id: ({ source }) => source?.id ?? null,
  created_at: ({ createdAt }) => createdAt,
  updated_at: ({ updatedAt }) => updatedAt,
  expires_at: ({ expiresAt }) => expiresAt,
  starts: ({ starts }, passage) => (passage || starts.length === 0 ? null : starts),
  states: ({ states }, passage) => (passage || states.length === 0 ? null : bytesOf(states)),
};

/**
 * Encodes memories as one Arrow batch, column by column. LanceDB's own conversion of objects takes ten times as
 * long, and silently pads a vector of the wrong length.
 */
export function encodeRows(
  memories: readonly StoredMemory[],
  schema: Arrow.Schema,
): Arrow.RecordBatch {
  const rows = memories.flatMap((memory) =>
    memory.vectors.map((vector, passage) => ({ memory, vector, passage })),
  );
  const children = schema.fields.map(({ name, type }) => {
    if (name === "vector") {
      return encodeVectors(
        rows.map((row) => row.vector),
        type,
      );
    }
    if (name === "passages") {
      return dataOf(
        rows.map((row) => row.memory.vectors.length),
        type,
      );
    }
    const value = VALUES[name];
    if (!value) throw new Error(`the column ${name} is unknown`);
    return dataOf(
      rows.map((row) => value(row.memory, row.passage)),
      type,
    );
  });
  return batchOf(schema, children, rows.length);
}

/** The value of the column `words`. */
function wordsOf(content: string): string {
  return tokensOf(content).join(" ");
}

/**
 * Converts rows of a base to this version's schema. Values stay as they are. Columns that an older base lacks
 * get their defaults.
 * @param words the words of the rows, if that base lacks them
 */
export function adoptRows(
  read: Arrow.RecordBatch,
  schema: Arrow.Schema,
  words: readonly (string | null)[] = [],
): Arrow.RecordBatch {
  const children = schema.fields.map(({ name, type, nullable }) => {
    const data = read.getChild(name)?.data[0];
    if (data) return data;
    if (name === "words") return dataOf(words, type);
    return dataOf(new Array(read.numRows).fill(nullable ? null : false), type);
  });
  return batchOf(schema, children, read.numRows);
}

/** The words of rows whose base lacks them; empty if the base has them. */
export async function missingWords(read: Arrow.RecordBatch): Promise<(string | null)[]> {
  if (read.getChild("words")) return [];
  const pause = createPause();
  const words: (string | null)[] = [];
  const contents: Iterable<string | null> = read.getChild("content") ?? [];
  for (const content of contents) {
    words.push(content === null ? null : wordsOf(content));
    await pause();
  }
  return words;
}

function batchOf(schema: Arrow.Schema, children: Arrow.Data[], length: number): Arrow.RecordBatch {
  const type = new Arrow.Struct(schema.fields);
  return new Arrow.RecordBatch(schema, Arrow.makeData({ type, length, nullCount: 0, children }));
}

function dataOf(values: readonly unknown[], type: Arrow.DataType): Arrow.Data {
  const [data] = Arrow.vectorFromArray(values, type).data;
  if (!data) throw new Error(`Arrow made no data of the type ${type}`);
  return data;
}

function bytesOf({ buffer, byteOffset, byteLength }: Int8Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function encodeVectors(vectors: readonly Float32Array[], type: Arrow.FixedSizeList): Arrow.Data {
  const flat = new Float32Array(vectors.length * type.listSize);
  vectors.forEach((vector, index) => {
    if (vector.length !== type.listSize) {
      throw new RangeError(`a vector has ${vector.length} numbers instead of ${type.listSize}`);
    }
    flat.set(vector, index * type.listSize);
  });
  const child = Arrow.makeData({ type: new Arrow.Float32(), data: flat });
  return Arrow.makeData({ type, length: vectors.length, nullCount: 0, child });
}
