import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
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
import type { EmbeddingModel } from "../embedding/embedder.ts";

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
