import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  Binary,
  Bool,
  type DataType,
  Field,
  FixedSizeList,
  Float32,
  Float64,
  Int32,
  List,
  Schema,
  TimestampMillisecond,
  Utf8,
} from "apache-arrow";
import type { EmbeddingModel } from "../../embedding/embedder.ts";

/**
 * The schema of a base. Row 0 of a memory has its text and its states; each further passage has a row with its own
 * vector, the columns that filters and ranking read, and no text. A new column also needs its line
 * in `encode.ts` and `decode.ts`, and a default there: older bases are read without it, and get it
 * when they are rewritten.
 */
export function baseSchema(model: EmbeddingModel): Schema {
  const required = (name: string, type: DataType) => new Field(name, type, false);
  const optional = (name: string, type: DataType) => new Field(name, type, true);
  return new Schema(
    [
      required("id", new Utf8()),
      required("passage", new Int32()),
      required("passages", new Int32()),
      optional("content", new Utf8()),
      // What `tokensOf` makes of it, with spaces between, for the index. When that changes, the
      // column needs another name: then older bases are rewritten.
      optional("words", new Utf8()),
      required("tags", new List(optional("item", new Utf8()))),
      optional("agent_id", new Utf8()),
      optional("session_id", new Utf8()),
      optional("project", new Utf8()),
      required("importance", new Float64()),
      required("pinned", new Bool()),
      optional("supersedes", new Utf8()),
      optional("superseded_by", new Utf8()),
      optional("metadata", new Utf8()),
      optional("source_via", new Utf8()),
      optional("source_by", new Utf8()),
      optional("source_id", new Utf8()),
      required("created_at", new TimestampMillisecond("UTC")),
      required("updated_at", new TimestampMillisecond("UTC")),
      optional("expires_at", new TimestampMillisecond("UTC")),
      optional("starts", new List(optional("item", new Int32()))),
      optional("states", new Binary()),
      required("vector", new FixedSizeList(model.dimension, optional("item", new Float32()))),
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
 * The model that a base says it was made with; early ones have no more than its name.
 * @param wanted the model in use, which is taken when the name is its own
 */
export function recordedModel(
  { metadata, fields }: Schema,
  wanted?: EmbeddingModel,
): EmbeddingModel {
  const id = metadata.get("ctxd.model") ?? "";
  if (wanted && id === wanted.id) return wanted;
  const manifest: unknown = JSON.parse(metadata.get("ctxd.manifest") ?? "null");
  if (Value.Check(RecordedModel, manifest)) return manifest;
  const type: FixedSizeList | undefined = fields.find(({ name }) => name === "vector")?.type;
  return modelNamed(id, type?.listSize ?? 0);
}

/** A model of which no more is known. */
export function modelNamed(id: string, dimension: number): EmbeddingModel {
  return { id, dimension, cosines: { unrelated: 0.5, same: 1 } };
}

/** Ids of all rows of a memory. */
export function rowIds(id: string, passages: number): string[] {
  return Array.from({ length: passages }, (_, passage) => rowIdOf(id, passage));
}

/** The id of a passage's row. */
export function rowIdOf(id: string, passage: number): string {
  return passage ? `${id}#${passage}` : id;
}

/** The memory that a row belongs to. */
export function memoryIdOf(rowId: string): string {
  const end = rowId.indexOf("#");
  return end < 0 ? rowId : rowId.slice(0, end);
}
