import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../timing/pause.ts";
import { tokensOf } from "../indexes/tokens.ts";
import type { StoredMemory } from "../model/rows.ts";
import { modelNamed } from "./base.ts";

// `import` would load a second copy of Arrow. LanceDB accepts only objects of its own copy.
import Arrow = require("apache-arrow");

type ValueOf = (memory: StoredMemory, passage: number) => unknown;

interface Column {
  readonly type: Arrow.DataType;
  readonly nullable: boolean;
  readonly of: ValueOf;
}

const columnThat =
  (nullable: boolean) =>
  <Type extends Arrow.DataType>(type: Type, of: ValueOf) => ({ type, nullable, of });
const required = columnThat(false);
const optional = columnThat(true);
/** A column that is null in the rows of further passages. */
const first = <Type extends Arrow.DataType>(type: Type, of: (memory: StoredMemory) => unknown) =>
  optional(type, (memory, passage) => (passage ? null : of(memory)));
const item = <Type extends Arrow.DataType>(type: Type) => new Arrow.Field("item", type, true);

const utf8 = new Arrow.Utf8();
const int32 = new Arrow.Int32();
const time = new Arrow.TimestampMillisecond("UTC");

/**
 * All columns of a base except `vector`: type and value of a memory's passage. The first row of a memory has its text
 * and its token states. Each further passage has a row with its own vector and the columns that filters and ranking
 * read, without the text. A new column also needs a line in `decode.ts`, and a default there: older bases are read
 * without the column, and the next rewrite adds it.
 */
const COLUMNS = {
  id: required(utf8, ({ id }, passage) => rowIdOf(id, passage)),
  passage: required(int32, (_, passage) => passage),
  passages: required(int32, ({ vectors }) => vectors.length),
  content: first(utf8, ({ content }) => content),
  // The words of the content from `tokensOf`, with spaces between, for the index. When `tokensOf` changes,
  // give this column another name: then older bases are rewritten.
  words: first(utf8, ({ content }) => wordsOf(content)),
  tags: required(new Arrow.List(item(utf8)), ({ tags }) => tags),
  agent_id: optional(utf8, ({ agentId }) => agentId),
  session_id: optional(utf8, ({ sessionId }) => sessionId),
  project: optional(utf8, ({ project }) => project),
  importance: required(new Arrow.Float64(), ({ importance }) => importance),
  pinned: required(new Arrow.Bool(), ({ pinned }) => pinned),
  supersedes: optional(utf8, ({ supersedes }) => supersedes),
  superseded_by: optional(utf8, ({ supersededBy }) => supersededBy),
  metadata: first(utf8, ({ metadata }) => metadata),
  source_via: optional(utf8, ({ source }) => source?.via ?? null),
  source_by: optional(utf8, ({ source }) => source?.by ?? null),
  source_id: optional(utf8, ({ source }) => source?.id ?? null),
  created_at: required(time, ({ createdAt }) => createdAt),
  updated_at: required(time, ({ updatedAt }) => updatedAt),
  expires_at: optional(time, ({ expiresAt }) => expiresAt),
  starts: first(new Arrow.List(item(int32)), ({ starts }) => (starts.length > 0 ? starts : null)),
  states: first(new Arrow.Binary(), ({ states }) =>
    states.length > 0 ? new Uint8Array(states) : null,
  ),
};

/** The types of all columns. */
export type RowTypes = {
  [Name in keyof typeof COLUMNS]: (typeof COLUMNS)[Name]["type"];
} & { vector: Arrow.FixedSizeList<Arrow.Float32> };

const columns: Readonly<Record<string, Column>> = COLUMNS;

/** The schema of a base. */
export function baseSchema(model: EmbeddingModel): Arrow.Schema {
  const vector = new Arrow.FixedSizeList(model.dimension, item(new Arrow.Float32()));
  return new Arrow.Schema(
    [
      ...Object.entries(columns).map(
        ([name, { type, nullable }]) => new Arrow.Field(name, type, nullable),
      ),
      new Arrow.Field("vector", vector, false),
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
    const column = columns[name];
    if (column) {
      const values = rows.map(({ memory, passage }) => column.of(memory, passage));
      return dataOf(values, type);
    }
    if (name !== "vector") throw new Error(`the column ${name} is unknown`);
    const vectors = rows.map(({ vector }) => vector);
    return encodeVectors(vectors, type);
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
