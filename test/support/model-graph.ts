import { join } from "node:path";
import { Tokenizer } from "@anush008/tokenizers";
import { InferenceSession, Tensor } from "onnxruntime-node";
import { builtInModel, prepareModel } from "../../src/embedding/manifest.ts";
import { disableTelemetry } from "../../src/native/inference.ts";
import { testCacheDir } from "./embedder.ts";

/** The built-in model without fastembed: its tokenizer, and the states of tokens, one after the other. */
export async function openModelGraph() {
  disableTelemetry();
  const folder = await prepareModel({ cacheDir: testCacheDir });
  const session = await InferenceSession.create(join(folder, builtInModel.graph), {
    intraOpNumThreads: 1,
  });
  return {
    tokenizer: Tokenizer.fromFile(join(folder, "tokenizer.json")),

    async statesOf(ids: readonly number[]): Promise<Float32Array> {
      const tensor = (value: (id: number) => number) =>
        new Tensor(
          "int64",
          BigInt64Array.from(ids, (id) => BigInt(value(id))),
          [1, ids.length],
        );
      const output = await session.run({
        input_ids: tensor((id) => id),
        attention_mask: tensor(() => 1),
        token_type_ids: tensor(() => 0),
      });
      return Float32Array.from((await output.last_hidden_state?.getData()) as Float32Array);
    },
  };
}
