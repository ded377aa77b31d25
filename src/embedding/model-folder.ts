import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { ModelFile, ModelManifest } from "./manifest.ts";
import { ModelError } from "./model-error.ts";
import { modelUsage, type Usage } from "./model-families.ts";

/** A model as its files describe it: what only running it tells is missing. */
export type ModelDescription = Omit<ModelManifest, "dimension" | "cosines">;

/** Where a graph is, the best first: in a folder of Hugging Face, of fastembed or of someone's own. */
const GRAPHS = [
  "model_quantized.onnx",
  "model_optimized.onnx",
  "model.onnx",
  "onnx/model_quantized.onnx",
  "onnx/model.onnx",
];
/** Tokens that are embedded at once: the time of a run grows faster than its length. */
const LONGEST_WINDOW = 512;
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
/** What a person may write down about a model, in `ctxd.json` beside its files. */
const Ours = Type.Object(
  {
    pooling: Type.Optional(Type.Union([Type.Literal("first token"), Type.Literal("mean")])),
    query_prefix: Type.Optional(Text),
    content_prefix: Type.Optional(Text),
    window: Type.Optional(Type.Integer({ minimum: 32, maximum: 8192 })),
  },
  { additionalProperties: false },
);

/**
 * Reads what is to be known of the model in a folder: an ONNX graph with `tokenizer.json` and
 * `config.json`, as models for fastembed and on Hugging Face are laid out.
 * @param name of the model; by default what its files say, or the folder's
 * @throws ModelError with one sentence
 */
export async function describeModelFolder(
  folder: string,
  givenName?: string,
): Promise<ModelDescription> {
  const graph = GRAPHS.find((file) => existsSync(join(folder, file)));
  if (!graph) throw new ModelError(`${folder} has no model: none of ${GRAPHS.join(", ")}.`);
  const config = await readJson(folder, "config.json", Config);
  const tokenizer = await readJson(folder, "tokenizer_config.json", TokenizerConfig, {});
  const ours = await readJson(folder, "ctxd.json", Ours, {});
  const name = givenName ?? basename(config._name_or_path || folder);
  const usage = await usageIn(folder, name, ours);
  const window =
    ours.window ??
    Math.min(
      LONGEST_WINDOW,
      config.max_position_embeddings ?? LONGEST_WINDOW,
      tokenizer.model_max_length ?? LONGEST_WINDOW,
    );
  const files = [
    await fileOf(folder, graph, basename(graph)),
    await fileOf(folder, "tokenizer.json"),
    // What fastembed reads beside them, as little as it needs: padding and its own limits are not
    // used, and tokenizer.json has the special tokens.
    textFile("config.json", { pad_token_id: config.pad_token_id ?? 0 }),
    textFile("tokenizer_config.json", { model_max_length: window, pad_token: "[PAD]" }),
    textFile("special_tokens_map.json", {}),
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

/** How the model is used, as the folder says or as its name tells. */
async function usageIn(folder: string, name: string, ours: Static<typeof Ours>): Promise<Usage> {
  const known = modelUsage(name);
  const trained = await readJson(folder, "1_Pooling/config.json", SentenceTransformers, {});
  const pooling =
    ours.pooling ??
    (trained.pooling_mode_cls_token ? "first token" : null) ??
    (trained.pooling_mode_mean_tokens ? "mean" : null) ??
    known?.pooling;
  if (!pooling) {
    throw new ModelError(
      `Nothing in ${folder} says how its vectors are made: write {"pooling": "mean"} or {"pooling": "first token"} into ${join(folder, "ctxd.json")}.`,
    );
  }
  const prefixes = {
    query: ours.query_prefix ?? known?.prefixes.query ?? "",
    content: ours.content_prefix ?? known?.prefixes.content ?? "",
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
    throw new ModelError(`${path} is missing: a model needs it.`);
  }
  try {
    return Value.Decode(schema, JSON.parse(await readFile(path, "utf8")));
  } catch (cause) {
    throw new ModelError(`${path} is not what it should be.`, { cause });
  }
}

async function fileOf(folder: string, path: string, name = path): Promise<ModelFile> {
  const file = Bun.file(join(folder, path));
  const hash = new Bun.CryptoHasher("sha256");
  try {
    for await (const chunk of file.stream()) hash.update(chunk);
  } catch (cause) {
    throw new ModelError(`${join(folder, path)} is missing or can't be read.`, { cause });
  }
  return { name, source: { path }, bytes: file.size, sha256: hash.digest("hex") };
}

/** A file whose text is ours. */
export function textFile(name: string, content: object): ModelFile {
  const text = JSON.stringify(content);
  return { name, source: { text }, bytes: text.length, sha256: hashOf(text) };
}

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}
