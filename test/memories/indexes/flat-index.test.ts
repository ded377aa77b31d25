import { expect, test } from "bun:test";
import { join } from "node:path";
import loadWabt from "wabt";
import { compact } from "../../../src/memories/compact-vector.ts";
import { createFlatIndex } from "../../../src/memories/indexes/flat-index.ts";
import { createRandom } from "../../support/random.ts";

const FOLDER = join(import.meta.dir, "../../../src/memories/indexes");
const random = createRandom(1);

function vectorOf(dimension: number): Float32Array {
  const vector = Float32Array.from({ length: dimension }, () => random.below(2_000) / 1_000 - 1);
  const length = Math.hypot(...vector);
  return vector.map((number) => number / length);
}

function dot(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, number, at) => sum + number * (b[at] ?? 0), 0);
}

test("the module is what its text says", async () => {
  const { parseWat } = await loadWabt();
  const text = await Bun.file(join(FOLDER, "dot-products.wat")).text();
  const { buffer } = parseWat("dot-products.wat", text, { simd: true }).toBinary({});
  const module = await Bun.file(join(FOLDER, "dot-products.wasm")).bytes();
  expect([...module]).toEqual([...buffer]);
});

test.each([1, 15, 16, 384, 385])(
  "the nearest of many vectors of %i numbers are found",
  (dimension) => {
    const index = createFlatIndex(dimension);
    const vectors = new Map<string, Float32Array>();
    const check = () => {
      const query = vectorOf(dimension);
      const found = index.nearest(query, 20);
      const products = found.map((id) => dot(vectors.get(id) ?? query, query));
      const best = [...vectors.values()].map((vector) => dot(vector, query)).sort((a, b) => b - a);
      expect(new Set(found).size).toBe(Math.min(20, vectors.size));
      for (const [place, product] of products.entries()) {
        expect(product).toBeGreaterThan((best[place] ?? 0) - 0.02);
      }
      expect(index.size).toBe(vectors.size);
    };
    const put = (id: string) => {
      const vector = vectorOf(dimension);
      vectors.set(id, vector);
      index.put(id, compact(vector));
    };
    for (let id = 0; id < 1_000; id++) put(`id ${id}`);
    check();
    // Changed, removed, and put into the places that became free.
    for (let id = 0; id < 1_000; id += 3) put(`id ${id}`);
    check();
    for (let id = 0; id < 1_000; id += 2) {
      index.remove(`id ${id}`);
      vectors.delete(`id ${id}`);
    }
    check();
    for (let id = 0; id < 700; id++) put(`new ${id}`);
    index.remove("nowhere");
    check();
    index.clear();
    vectors.clear();
    check();
  },
);

test("a vector without a direction is found, and last", () => {
  const index = createFlatIndex(3);
  index.put("nothing", compact(new Float32Array(3)));
  index.put("away", compact(Float32Array.of(0, 0, 1)));
  index.put("same", compact(Float32Array.of(1, 0, 0)));
  expect(index.nearest(Float32Array.of(1, 0, 0), 5)).toEqual(["same", "nothing", "away"]);
  expect(index.nearest(new Float32Array(3), 1)).toHaveLength(1);
});

test("indexes share a memory, and none sees what is in another or was left by it", () => {
  const indexes = Array.from({ length: 30 }, () => createFlatIndex(200));
  const vectors = indexes.map(() => Array.from({ length: 400 }, () => vectorOf(200)));
  const put = (number: number) => {
    vectors[number]?.forEach((vector, id) => {
      indexes[number]?.put(`${number} ${id}`, compact(vector));
    });
  };
  const check = (number: number) => {
    const query = vectors[number]?.[399] ?? new Float32Array(200);
    const found = indexes[number]?.nearest(query, 1_000) ?? [];
    expect(found[0]).toBe(`${number} 399`);
    expect(found.filter((id) => id.startsWith(`${number} `))).toHaveLength(400);
  };
  for (const number of indexes.keys()) put(number);
  for (const number of indexes.keys()) check(number);
  for (let number = 0; number < 30; number += 2) indexes[number]?.clear();
  expect(indexes[0]?.nearest(vectorOf(200), 10)).toEqual([]);
  for (let number = 28; number >= 0; number -= 2) put(number);
  for (const number of indexes.keys()) check(number);
});
