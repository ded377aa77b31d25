import { expect, test } from "bun:test";
import { builtInModel, modelFiles } from "../../../src/embedding/manifest.ts";
import { adaptGraph } from "../../../src/embedding/relations/adapt-graph.ts";

/** What fills a file of the format safetensors. */
function fileOf(tensors: Record<string, { shape: [number, number]; value: number }>): Uint8Array {
  const numbers: number[] = [];
  const header: Record<string, unknown> = { __metadata__: { data: "none" } };
  for (const [name, { shape, value }] of Object.entries(tensors)) {
    const start = 2 * numbers.length;
    numbers.push(...new Array(shape[0] * shape[1]).fill(value));
    header[name] = { dtype: "F16", shape, data_offsets: [start, 2 * numbers.length] };
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  const length = new Uint8Array(new BigUint64Array([BigInt(text.length)]).buffer);
  return Buffer.concat([length, text, new Uint8Array(Float16Array.from(numbers).buffer)]);
}

/** The first matrix of the graph, of 384 rows and columns. */
const MATRIX = "onnx::MatMul_1525";
const [file] = modelFiles(builtInModel).files;
const graph = Buffer.concat(await Array.fromAsync(file?.open() ?? []));

/** Numbers of the graph that another one has not. */
function changedBytes(other: Uint8Array): number {
  expect(other.length).toBe(graph.length);
  let changed = 0;
  for (const [at, byte] of graph.entries()) if (byte !== other[at]) changed++;
  return changed;
}

test("factors of zero leave a graph as it is, others change their matrix alone", () => {
  const factors = (value: number) =>
    fileOf({
      [`${MATRIX}.down`]: { shape: [384, 2], value },
      [`${MATRIX}.up`]: { shape: [2, 384], value },
    });
  // Scales are rounded.
  expect(changedBytes(adaptGraph(graph, factors(0)))).toBeLessThan(4 * 384);
  const changed = changedBytes(adaptGraph(graph, factors(0.05)));
  expect(changed).toBeGreaterThan(384);
  expect(changed).toBeLessThanOrEqual(384 * 384 + 4 * 384);
});

test("a matrix that the graph lacks, or that has another size, is named", () => {
  const unknown = fileOf({
    "other.down": { shape: [384, 1], value: 1 },
    "other.up": { shape: [1, 384], value: 1 },
  });
  expect(() => adaptGraph(graph, unknown)).toThrow("the graph has no matrix other");
  const small = fileOf({
    [`${MATRIX}.down`]: { shape: [10, 1], value: 1 },
    [`${MATRIX}.up`]: { shape: [1, 384], value: 1 },
  });
  expect(() => adaptGraph(graph, small)).toThrow(`the graph's matrix ${MATRIX} is not 10 × 384`);
});
