import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../timing/pause.ts";
import { tokensOf } from "../indexes/tokens.ts";
import type { StoredMemory } from "../model/rows.ts";

// `import` would load a second copy of Arrow. LanceDB accepts only objects of its own copy.
import Arrow = require("apache-arrow");

/**
 * The schema of a base. The first row of a memory has its text and its token states. Each further passage has a row
 * with its own vector and the columns that filters and ranking read, without the text. A new column also needs
 * a line in `encode.ts` and in `decode.ts`, and a default there: older bases are read without the column, and
 * the next rewrite adds it.
 */
export function baseSchema(model: EmbeddingModel): Arrow.Schema {
  const required = (name: string, type: Arrow.DataType) => new Arrow.Field(name, type, false);
  const optional = (name: string, type: Arrow.DataType) => new Arrow.Field(name, type, true);
  return new Arrow.Schema(
    [
      required("id", new Arrow.Utf8()),
      required("passage", new Arrow.Int32()),
      required("passages", new Arrow.Int32()),
      optional("content", new Arrow.Utf8()),
      // The words of the content from `tokensOf`, with spaces between, for the index. When `tokensOf` changes,
      // give this column another name: then older bases are rewritten.
      optional("words", new Arrow.Utf8()),
      required("tags", new Arrow.List(optional("item", new Arrow.Utf8()))),
      optional("agent_id", new Arrow.Utf8()),
      optional("session_id", new Arrow.Utf8()),
      optional("project", new Arrow.Utf8()),
      required("importance", new Arrow.Float64()),
      required("pinned", new Arrow.Bool()),
      optional("supersedes", new Arrow.Utf8()),
      optional("superseded_by", new Arrow.Utf8()),
      optional("metadata", new Arrow.Utf8()),
      optional("source_via", new Arrow.Utf8()),
      optional("source_by", new Arrow.Utf8()),
      optional("source_id", new Arrow.Utf8()),
      required("created_at", new Arrow.TimestampMillisecond("UTC")),
      required("updated_at", new Arrow.TimestampMillisecond("UTC")),
      optional("expires_at", new Arrow.TimestampMillisecond("UTC")),
      optional("starts", new Arrow.List(optional("item", new Arrow.Int32()))),
      optional("states", new Arrow.Binary()),
      required(
        "vector",
        new Arrow.FixedSizeList(model.dimension, optional("item", new Arrow.Float32())),
      ),
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

/**
 * The model of a base's vectors, as the base records it. Early bases record only its name.
 * @param wanted the model in use; returned if it has the recorded name
 */
export function recordedModel(
  { metadata, fields }: Arrow.Schema,
  wanted?: EmbeddingModel,
): EmbeddingModel {
  const id = metadata.get("ctxd.model") ?? "";
  if (wanted && id === wanted.id) return wanted;
  const manifest: unknown = JSON.parse(metadata.get("ctxd.manifest") ?? "null");
  if (Value.Check(RecordedModel, manifest)) return manifest;
  const type: Arrow.FixedSizeList | undefined = fields.find(({ name }) => name === "vector")?.type;
  return modelNamed(id, type?.listSize ?? 0);
}

/** A model of which only name and dimension are known. */
export function modelNamed(id: string, dimension: number): EmbeddingModel {
  return { id, dimension, cosines: { unrelated: 0.5, same: 1 } };
}

/** Ids of all rows of a memory. */
export function rowIds(id: string, passages: number): string[] {
  return Array.from({ length: passages }, (_, passage) => rowIdOf(id, passage));
}

/** The id of a passage's row. */
function rowIdOf(id: string, passage: number): string {
  return passage ? `${id}#${passage}` : id;
}

/** The memory that a row belongs to. */
export function memoryIdOf(rowId: string): string {
  const end = rowId.indexOf("#");
  return end < 0 ? rowId : rowId.slice(0, end);
}

type ValueOf = (memory: StoredMemory, passage: number) => unknown;

/** The values of all columns except `passages` and `vector`. */
const VALUES: Readonly<Record<string, ValueOf>> = {
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
