import { join } from "node:path";
import { type AssetFile, prepareAsset, readExpected } from "../../native/asset.ts";
import { builtInModel, modelFiles, prepareModel } from "../manifest.ts";
import { adaptGraph, readTensors, type Tensor } from "./adapt-graph.ts";
import learned from "./relations.safetensors" with { type: "file" };

/** SHA-256 of the adapted graph, which has the same bytes on every machine. */
export const GRAPH_SHA256 = "3bd7f469d2178740b705ebe029f522512f9e3ebaee0beb373e66979a18272374";
const GRAPH = "relations.onnx";

/**
 * Makes sure that the model of relations is in the cache: the graph of the built-in model with what was learned of pairs of
 * texts (see `test/eval/relations`). It takes a second once, and 34 MB on disk.
 * @returns the paths of its files, and the weights of the last layer
 * @throws AssetError when the folder can't be used
 */
export async function prepareRelationModel(cacheDir: string) {
  const asset = { name: "relations", files: [graphFile()] };
  const [folder, texts] = await Promise.all([
    prepareAsset(asset, cacheDir),
    prepareModel({ cacheDir }),
  ]);
  return {
    graph: join(folder, GRAPH),
    tokenizer: join(texts, "tokenizer.json"),
    head: await readHead(),
  };
}

function graphFile(): AssetFile {
  const published = modelFiles().files.find(({ name }) => name === builtInModel.graph);
  if (!published) throw new Error("the built-in model has no graph");
  return {
    ...published,
    name: GRAPH,
    origin: GRAPH,
    sha256: GRAPH_SHA256,
    async *open() {
      const plain = Buffer.concat(await Array.fromAsync(readExpected(published)));
      yield adaptGraph(plain, await Bun.file(learned).bytes());
    },
  };
}

async function readHead(): Promise<{ weights: Tensor; bias: Tensor }> {
  const tensors = readTensors(await Bun.file(learned).bytes());
  const [weights, bias] = [tensors.get("head.weight"), tensors.get("head.bias")];
  if (!weights || !bias) throw new Error(`${learned} has no last layer`);
  return { weights, bias };
}
