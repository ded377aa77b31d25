import { expect, test } from "bun:test";
import { createVectorIndex } from "../../../src/memories/indexes/vectors.ts";
import { cosine } from "../../support/cosine.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(1);

function vectorOf(dimension: number): Float32Array {
  const vector = Float32Array.from({ length: dimension }, () => random.below(2_000) / 1_000 - 1);
  const length = Math.hypot(...vector);
  return vector.map((number) => number / (length || 1));
}

const all = (count: number) => ({ count, least: 1, accepts: null });

test.each([1, 15, 16, 384, 385])(
  "the nearest of many vectors of %i numbers are found, and how near they are",
  (dimension) => {
    const index = createVectorIndex(dimension);
    const vectors = new Map<number, Float32Array[]>();
    const productOf = (owner: number, query: Float32Array) =>
      Math.max(...(vectors.get(owner) ?? []).map((vector) => cosine(vector, query)));
    const check = () => {
      const query = vectorOf(dimension);
      const found = [...index.nearest(query, { count: 20, least: 20, accepts: null })];
      const best = [...vectors.keys()]
        .map((owner) => productOf(owner, query))
        .sort((a, b) => b - a);
      expect(found.length).toBeGreaterThanOrEqual(Math.min(20, vectors.size));
      for (const [place, owner] of found.slice(0, 20).entries()) {
        expect(productOf(owner, query)).toBeGreaterThan((best[place] ?? 0) - 0.02);
      }
      const owners = [...vectors.keys()];
      for (const [place, { product }] of index.products(query, owners).entries()) {
        expect(Math.abs(product - productOf(owners[place] ?? -1, query))).toBeLessThan(0.02);
      }
    };
    const put = (owner: number) => {
      index.remove(owner);
      const own = Array.from({ length: 1 + random.below(2) }, () => vectorOf(dimension));
      vectors.set(owner, own);
      index.put(owner, own);
    };
    for (let owner = 0; owner < 1_000; owner++) put(owner);
    check();
    // Changed, removed, and put into the rows that became free.
    for (let owner = 0; owner < 1_000; owner += 3) put(owner);
    check();
    for (let owner = 0; owner < 1_000; owner += 2) {
      index.remove(owner);
      vectors.delete(owner);
    }
    check();
    for (let owner = 0; owner < 700; owner++) put(owner);
    index.remove(5_000);
    check();
    const { bytes } = index;
    for (let owner = 0; owner < 1_000; owner++) put(owner);
    expect(index.bytes).toBeLessThan(1.5 * bytes);
  },
);

test("a vector without a direction is found, and last", () => {
  const index = createVectorIndex(3);
  index.put(0, [new Float32Array(3)]);
  index.put(1, [Float32Array.of(0, 0, 1)]);
  index.put(2, [Float32Array.of(1, 0, 0)]);
  expect([...index.nearest(Float32Array.of(1, 0, 0), all(5))]).toEqual([2, 0, 1]);
  expect(index.nearest(new Float32Array(3), all(1)).size).toBe(1);
});

test("only what is accepted is found, and nothing of what was removed", () => {
  const index = createVectorIndex(8);
  const query = vectorOf(8);
  for (let owner = 0; owner < 500; owner++) index.put(owner, [query]);
  for (let owner = 0; owner < 500; owner += 2) index.remove(owner);
  const accepts = (owner: number) => owner % 5 === 0;
  const found = index.nearest(query, { count: 500, least: 500, accepts });
  expect([...found].sort((a, b) => a - b)).toEqual(
    Array.from({ length: 50 }, (_, place) => 10 * place + 5),
  );
});

test("indexes share a memory, and none sees what is in another or was left by it", () => {
  const indexes = Array.from({ length: 30 }, () => createVectorIndex(200));
  const vectors = indexes.map(() => Array.from({ length: 400 }, () => vectorOf(200)));
  const put = (number: number) => {
    vectors[number]?.forEach((vector, owner) => {
      indexes[number]?.put(owner, [vector]);
    });
  };
  const check = (number: number) => {
    const query = vectors[number]?.[399] ?? new Float32Array(200);
    const found = [...(indexes[number]?.nearest(query, all(1_000)) ?? [])];
    expect(found).toHaveLength(400);
    expect(found[0]).toBe(399);
    expect(indexes[number]?.products(query, [399])[0]?.product).toBeCloseTo(1, 2);
  };
  for (const number of indexes.keys()) put(number);
  for (const number of indexes.keys()) check(number);
  for (let number = 0; number < 30; number += 2) indexes[number]?.close();
  expect(indexes[0]?.nearest(vectorOf(200), all(10)).size).toBe(0);
  for (let number = 28; number >= 0; number -= 2) put(number);
  for (const number of indexes.keys()) check(number);
});

test("the first vector of an owner is told, as it is kept", () => {
  const index = createVectorIndex(384);
  const [first, second] = [vectorOf(384), vectorOf(384)];
  index.put(3, [first, second]);
  const kept = index.first(3) ?? new Float32Array(384);
  expect(cosine(kept, first)).toBeCloseTo(1, 2);
  expect(cosine(kept, second)).toBeLessThan(0.9);
  index.remove(3);
  expect(index.first(3)).toBeNull();
  index.close();
});
