import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { hashFile } from "../native/asset.ts";
import { hashOf } from "../system/file-digest.ts";
import { ModelError, type ModelFile, type ModelManifest, textFile } from "./manifest.ts";

/** How a model must be used, which its graph does not say. */
type Usage = Pick<ModelManifest, "pooling" | "prefixes">;

const NO_PREFIXES = { query: "", content: "" };
const E5_PREFIXES = { query: "query: ", content: "passage: " };
const NOMIC_PREFIXES = { query: "search_query: ", content: "search_document: " };

/** The usage of each model family, from the models' pages on Hugging Face. */
const FAMILIES: readonly [name: RegExp, usage: Usage][] = [
  [/nomic-embed/i, { pooling: "mean", prefixes: NOMIC_PREFIXES }],
  [/(^|[-/_])e5([-_]|$)/i, { pooling: "mean", prefixes: E5_PREFIXES }],
  [
    /MiniLM|mpnet|(^|[-/_])gte([-_]|$)|jina-embeddings/i,
    { pooling: "mean", prefixes: NO_PREFIXES },
  ],
  [/(^|[-/_])bge([-_]|$)|mxbai|arctic-embed/i, { pooling: "first token", prefixes: NO_PREFIXES }],
];

/** The usage of a model by its name; `null` when the family is unknown. */
export function modelUsage(name: string): Usage | null {
  return FAMILIES.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

/** A model as its files describe it, without the properties that must be measured. */
export type ModelDescription = Omit<ModelManifest, "dimension" | "cosines">;

/** Paths of graphs in the folders of Hugging Face and fastembed, best first. */
const GRAPHS = [
  "model_quantized.onnx",
  "model_optimized.onnx",
  "model.onnx",
  "onnx/model_quantized.onnx",
  "onnx/model.onnx",
];
/** Maximum tokens of a run. Its time grows faster than its length. */
const MAX_WINDOW = 512;
const SPECIAL_TOKENS = 2;

const Text = Type.String({ maxLength: 200 });
const Config = Type.Object({
  _name_or_path: Type.Optional(Type.String()),
  max_position_embeddings: Type.Optional(Type.Number()),
  pad_token_id: Type.Optional(Type.Number()),
});
const TokenizerConfig = Type.Object({ model_max_length: Type.Optional(Type.Number()) });
const SentenceTransformers = Type.Object({
  pooling_mode_cls_token: Type.Optional(Type.Boolean()),
  pooling_mode_mean_tokens: Type.Optional(Type.Boolean()),
});
/** Settings that a person may write to `ctxd.json` beside the model's files. */
const Overrides = Type.Object(
  {
    pooling: Type.Optional(Type.Union([Type.Literal("first token"), Type.Literal("mean")])),
    query_prefix: Type.Optional(Text),
    content_prefix: Type.Optional(Text),
    window: Type.Optional(Type.Integer({ minimum: 32, maximum: 8192 })),
  },
  { additionalProperties: false },
);

/**
 * Describes the model in a folder: an ONNX graph with `tokenizer.json` and `config.json`, in the layout of
 * fastembed or Hugging Face.
 * @throws ModelError with one sentence
 */
export async function describeModelFolder(folder: string): Promise<ModelDescription> {
  const graph = GRAPHS.find((file) => existsSync(join(folder, file)));
  if (!graph) throw new ModelError(`${folder} has no model: none of ${GRAPHS.join(", ")}.`);
  const config = await readJson(folder, "config.json", Config);
  const tokenizer = await readJson(folder, "tokenizer_config.json", TokenizerConfig, {});
  const overrides = await readJson(folder, "ctxd.json", Overrides, {});
  const name = basename(config._name_or_path || folder);
  const usage = await usageIn(folder, name, overrides);
  const window =
    overrides.window ??
    Math.min(
      MAX_WINDOW,
      config.max_position_embeddings ?? MAX_WINDOW,
      tokenizer.model_max_length ?? MAX_WINDOW,
    );
  const files = [
    await fileOf(folder, graph, basename(graph)),
    await fileOf(folder, "tokenizer.json"),
    ...generatedFiles(window, { id: config.pad_token_id ?? 0, token: "[PAD]" }),
  ];
  const passage = {
    tokens: Math.min(254, window - SPECIAL_TOKENS),
    overlap: Math.min(32, window >> 3),
  };
  const identity = { files: files.map(({ sha256 }) => sha256), ...usage, window, passage };
  return {
    id: `${name.replaceAll(/[^\w.-]/g, "-").slice(0, 60)}-${hashOf(JSON.stringify(identity)).slice(0, 8)}`,
    title: name,
    licence: "its own",
    source: { folder },
    files,
    graph: basename(graph),
    ...usage,
    window,
    passage,
  };
}

/** The usage of a model, from files of the folder or by its name. */
async function usageIn(
  folder: string,
  name: string,
  overrides: Static<typeof Overrides>,
): Promise<Usage> {
  const known = modelUsage(name);
  const trained = await readJson(folder, "1_Pooling/config.json", SentenceTransformers, {});
  const pooling =
    overrides.pooling ??
    (trained.pooling_mode_cls_token ? "first token" : null) ??
    (trained.pooling_mode_mean_tokens ? "mean" : null) ??
    known?.pooling;
  if (!pooling) {
    throw new ModelError(
      `No file in ${folder} says how vectors are computed: write {"pooling": "mean"} or {"pooling": "first token"} into ${join(folder, "ctxd.json")}.`,
    );
  }
  const prefixes = {
    query: overrides.query_prefix ?? known?.prefixes.query ?? "",
    content: overrides.content_prefix ?? known?.prefixes.content ?? "",
  };
  return { pooling, prefixes };
}

async function readJson<Schema extends TSchema>(
  folder: string,
  name: string,
  schema: Schema,
  fallback?: Static<Schema>,
): Promise<Static<Schema>> {
  const path = join(folder, name);
  if (!existsSync(path)) {
    if (fallback !== undefined) return fallback;
    throw new ModelError(`${path} is missing, but a model needs it.`);
  }
  try {
    return Value.Decode(schema, JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    throw new ModelError(`${path} is not valid.`, { cause });
  }
}

async function fileOf(folder: string, path: string, name = path): Promise<ModelFile> {
  const file = join(folder, path);
  try {
    return { name, source: { path }, bytes: Bun.file(file).size, sha256: await hashFile(file) };
  } catch (cause) {
    throw new ModelError(`${file} is missing or can't be read.`, { cause });
  }
}

/**
 * Files that fastembed requires. ctxd uses neither padding nor fastembed's limits, and tokenizer.json has the
 * special tokens. So they are minimal.
 */
export function generatedFiles(
  window: number,
  padding: { id: number; token: string },
): ModelFile[] {
  return [
    textFile("config.json", { pad_token_id: padding.id }),
    textFile("tokenizer_config.json", { model_max_length: window, pad_token: padding.token }),
    textFile("special_tokens_map.json", {}),
  ];
}
