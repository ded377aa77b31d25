import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtInModel, prepareModel } from "../../src/embedding/manifest.ts";
import { testCacheDir } from "./embedder.ts";
import { createRandom } from "./random.ts";

/** Words that the built-in model's tokenizer knows. */
const VOCABULARY = 30_522;

/**
 * Writes a folder with a real ONNX model that is small and fast: each token has a random vector, so
 * that texts with the same words are near each other. Its tokenizer is the built-in model's.
 */
export async function writeWordModel(folder: string, dimension = 48, pooling = "mean") {
  mkdirSync(folder, { recursive: true });
  const builtIn = await prepareModel({ cacheDir: testCacheDir });
  cpSync(join(builtIn, "tokenizer.json"), join(folder, "tokenizer.json"));
  const config = { _name_or_path: "test/words", max_position_embeddings: builtInModel.window };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  writeFileSync(join(folder, "ctxd.json"), JSON.stringify({ pooling }));
  writeFileSync(join(folder, "model.onnx"), wordGraph(dimension));
}

/** `last_hidden_state = Gather(words, input_ids)` in the format of onnx.proto3, by its numbers. */
function wordGraph(dimension: number): Uint8Array {
  const random = createRandom(7);
  const size = VOCABULARY * dimension;
  const words = Float32Array.from({ length: size }, () => random.below(2_001) / 1_000 - 1);
  const [FLOAT, INT64] = [1, 7];
  const value = (name: string, type: number, ...sizes: (string | number)[]) => {
    const dimensions = sizes.map((size) => message([typeof size === "number" ? 1 : 2, size]));
    const shape = message(...dimensions.map((each): Field => [1, each]));
    return message([1, name], [2, message([1, message([1, type], [2, shape])])]);
  };
  const gather = [
    [1, "words"],
    [1, "input_ids"],
    [2, "last_hidden_state"],
    [4, "Gather"],
  ] as const;
  const tensor = message(
    [1, VOCABULARY],
    [1, dimension],
    [2, FLOAT],
    [8, "words"],
    [9, new Uint8Array(words.buffer)],
  );
  const graph = message(
    [1, message(...gather)],
    [2, "words"],
    [5, tensor],
    [11, value("input_ids", INT64, "texts", "tokens")],
    [12, value("last_hidden_state", FLOAT, "texts", "tokens", dimension)],
  );
  return message([1, 8], [7, graph], [8, message([2, 13])]);
}

type Field = readonly [number: number, value: number | string | Uint8Array];

/** A message of Protocol Buffers. */
function message(...fields: readonly Field[]): Uint8Array {
  const parts = fields.flatMap(([number, value]) => {
    if (typeof value === "number") return [varint(number << 3), varint(value)];
    const content = typeof value === "string" ? new TextEncoder().encode(value) : value;
    return [varint((number << 3) | 2), varint(content.length), content];
  });
  return new Uint8Array(Buffer.concat(parts));
}

function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; bytes.length === 0 || rest > 0; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
  }
  return Uint8Array.from(bytes);
}
