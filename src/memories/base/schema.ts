import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

import Arrow = require("apache-arrow");

import type { EmbeddingModel } from "../../embedding/embedder.ts";

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
export function rowIdOf(id: string, passage: number): string {
  return passage ? `${id}#${passage}` : id;
}

/** The memory that a row belongs to. */
export function memoryIdOf(rowId: string): string {
  const end = rowId.indexOf("#");
  return end < 0 ? rowId : rowId.slice(0, end);
}
