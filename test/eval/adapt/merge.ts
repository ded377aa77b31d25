import { join } from "node:path";
import { builtInModel, modelFiles } from "../../../src/embedding/manifest.ts";
import { adaptGraph } from "../../../src/embedding/relations/adapt-graph.ts";
import { readExpected } from "../../../src/native/asset.ts";

const USAGE = `bun test/eval/adapt/merge.ts FOLDER

Writes the graph with what export.py wrote to this folder, and its SHA-256 into the folder's projection.json.
`;
const [folder] = Bun.argv.slice(2);
if (!folder) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const published = modelFiles().files.find(({ name }) => name === builtInModel.graph);
if (!published) throw new Error("the model has no graph");
const adaptation = await Bun.file(join(folder, "adaptation.safetensors")).bytes();
const plain = Buffer.concat(await Array.fromAsync(readExpected(published)));
const adapted = adaptGraph(plain, adaptation);
await Bun.write(join(folder, builtInModel.graph), adapted);
const graph = new Bun.CryptoHasher("sha256").update(adapted).digest("hex");
const path = join(folder, "projection.json");
const projection = await Bun.file(path).json();
await Bun.write(path, `${JSON.stringify({ ...projection, graph }, null, 2)}\n`);
process.stdout.write(`${graph}\n`);
