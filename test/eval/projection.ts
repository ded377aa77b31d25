import { basename, join, relative } from "node:path";
import { STATE_BYTES } from "../../src/embedding/embedder.ts";
import { builtInModel } from "../../src/embedding/manifest.ts";
import { splitPassages } from "../../src/embedding/passages.ts";
import { contentTokens, tokensOf } from "../../src/embedding/tokens.ts";
import { principalComponents } from "../../src/memories/map/principal-components.ts";
import { createProgress } from "../bench/progress.ts";
import { openModelGraph } from "../support/model-graph.ts";
import { readSet } from "./set.ts";

/** Rounds after which as many components stand still as a state has numbers. */
const ROUNDS = 200;

const USAGE = `bun test/eval/projection.ts FILE…

Fits the projection of the built-in model's token states to the memories of these files (of the format
of test/eval/own/facts.json), and writes src/embedding/projection.json. Takes some minutes.
`;

/**
 * States of one piece that count. With all of them, what is most frequent in these texts takes most of
 * the numbers: recall of the first ten by late interaction alone was .69 on LoCoMo instead of .72.
 */
const MOST_OF_A_PIECE = 8;
const OUTPUT = join(import.meta.dir, "..", "..", "src", "embedding", "projection.json");
const { dimension, window, passage } = builtInModel;

const paths = Bun.argv.slice(2);
if (paths.length === 0) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const collect = await openModel();
const states: Float32Array[] = [];
const data: { name: string; sha256: string }[] = [];
for (const path of paths) {
  const name = basename(path);
  const { memories } = await readSet(path);
  const progress = createProgress(name, memories.length);
  for (const [index, { content }] of memories.entries()) {
    states.push(...(await collect(content)));
    progress.report(index + 1);
  }
  progress.end();
  const bytes = await Bun.file(path).bytes();
  data.push({ name, sha256: new Bun.CryptoHasher("sha256").update(bytes).digest("hex") });
}
const all = new Float32Array(states.length * dimension);
for (const [nth, state] of states.entries()) all.set(state, nth * dimension);
const { mean, directions } = principalComponents(all, dimension, STATE_BYTES, ROUNDS);
await Bun.write(OUTPUT, `${JSON.stringify(describe(mean, directions), null, 2)}\n`);
process.stdout.write(`${relative(process.cwd(), OUTPUT)}: of ${states.length} tokens\n`);

/** What gives the states of a text's content tokens, of each piece the first few. */
async function openModel(): Promise<(text: string) => Promise<Float32Array[]>> {
  const { tokenizer, statesOf } = await openModelGraph();
  const times = new Map<number, number>();

  return async (text) => {
    const whole = await tokenizer.encode(text, null, { addSpecialTokens: false });
    const found: Float32Array[] = [];
    for (const part of splitPassages(text, whole, { window: window - 2, ...passage })) {
      const encoding = await tokenizer.encode(part.text, null);
      const wanted = contentTokens(tokensOf(part.text, encoding)).filter(({ id }) => {
        times.set(id, (times.get(id) ?? 0) + 1);
        return (times.get(id) ?? 0) <= MOST_OF_A_PIECE;
      });
      if (wanted.length === 0) continue;
      const all = await statesOf(encoding.getIds());
      for (const { place } of wanted) {
        found.push(all.slice(place * dimension, (place + 1) * dimension));
      }
    }
    return found;
  };
}

/** The file's content: numbers of 8 bits, with a factor for each component. */
function describe(mean: Float64Array, components: readonly Float64Array[]) {
  const matrix = new Int8Array(dimension * STATE_BYTES);
  const scales = components.map((component, to) => {
    const scale = Math.max(...component.map(Math.abs)) / 127;
    for (const [at, value] of component.entries()) {
      matrix[at * STATE_BYTES + to] = Math.round(value / scale);
    }
    return scale;
  });
  // The mean as it is projected, so that it is taken away from fewer numbers.
  const offsets = scales.map((scale, to) =>
    mean.reduce((sum, value, at) => sum + value * scale * (matrix[at * STATE_BYTES + to] ?? 0), 0),
  );
  const { sha256 = "" } = builtInModel.files.find(({ name }) => name === builtInModel.graph) ?? {};
  return {
    about:
      "Projects the states of the graph's tokens: principal components (see test/eval/projection.ts). matrix: numbers of 8 bits, in base64, a row for each of a state's.",
    command: `bun test/eval/projection.ts ${data.map(({ name }) => name).join(" ")}`,
    data,
    tokens: states.length,
    graph: sha256,
    dimension,
    scales: scales.map((scale) => Number(scale.toPrecision(5))),
    offsets: offsets.map((offset) => Number(offset.toPrecision(5))),
    matrix: Buffer.from(matrix.buffer).toString("base64"),
  };
}
