import { expect, test } from "bun:test";
import { largestEstimated } from "../../../src/memories/indexes/sketched-rows.ts";
import { createSketches, type Estimates } from "../../../src/memories/indexes/sketches.ts";
import { createVectorIndex } from "../../../src/memories/indexes/vectors.ts";
import {
  BLOCK,
  releaseBlocks,
  takeBlock,
  views,
} from "../../../src/memories/indexes/wasm-memory.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(5);

const unit = (vector: Float32Array) => {
  const length = Math.sqrt(product(vector, vector));
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] ?? 0) / length;
  return vector;
};
const anyVector = (dimension: number) =>
  unit(Float32Array.from({ length: dimension }, () => random.next() + random.next() - 1));
const product = (a: Float32Array, b: Float32Array) => {
  let total = 0;
  for (let at = 0; at < a.length; at++) total += (a[at] ?? 0) * (b[at] ?? 0);
  return total;
};

/** Makes vectors as a model does: all have something in common, and those about the same thing have more. */
function createTexts(dimension: number) {
  const common = anyVector(dimension);
  const pool = (size: number) => Array.from({ length: size }, () => anyVector(dimension));
  const [subjects, details] = [pool(60), pool(1_000)];
  const any = () => {
    const subject = subjects[random.below(subjects.length)] ?? common;
    const detail = details[random.below(details.length)] ?? common;
    const share = 0.2 + 0.4 * random.next();
    const vector = new Float32Array(dimension);
    for (let at = 0; at < dimension; at++) {
      vector[at] = 0.8 * (common[at] ?? 0) + share * (subject[at] ?? 0) + 0.5 * (detail[at] ?? 0);
    }
    return unit(vector);
  };
  return { common, any };
}

test.each([32, 384, 4_096])("products with vectors of %d numbers are estimated", (dimension) => {
  const { common, any } = createTexts(dimension);
  const count = 70_000 / dimension + 1_000;
  const vectors = Array.from({ length: Math.floor(count) }, any);
  const sketches = createSketches(dimension, common, (row) => {
    const vector = vectors[row] ?? common;
    const most = Math.max(...vector.map(Math.abs));
    const numbers = Int8Array.from(vector, (number) => Math.round((127 * number) / most));
    return { numbers, factor: most / 127 };
  });
  for (const row of vectors.keys()) sketches.put(row);
  // Rows are used again.
  for (let row = 0; row < vectors.length; row += 3) {
    vectors[row] = any();
    sketches.put(row);
  }
  expect(sketches.count).toBe(vectors.length);
  for (let round = 0; round < 3; round++) {
    const query = any();
    const { of, between, error } = sketches.estimate(query);
    const rows = [...vectors.keys()];
    const errors = vectors.map((vector, row) => of(row) - product(vector, query));
    const mean = errors.reduce((total, one) => total + one, 0) / errors.length;
    const squares = errors.reduce((total, one) => total + one * one, 0) / errors.length;
    expect(Math.abs(mean)).toBeLessThan(error / 2);
    expect(Math.sqrt(squares)).toBeGreaterThan(0.7 * error);
    expect(Math.sqrt(squares)).toBeLessThan(1.3 * error);
    const [low = 0, high = 0] = [of(1), of(2)].sort((a, b) => a - b);
    const isBetween = (row: number) => of(row) >= low && of(row) < high;
    expect(between(low, high, null, rows.length)).toEqual(rows.filter(isBetween));
    const isEven = (row: number) => row % 2 === 0;
    expect(between(low, Infinity, isEven, rows.length)).toEqual(
      rows.filter((row) => isEven(row) && of(row) >= low),
    );
    expect(between(-Infinity, Infinity, null, rows.length)).toEqual(rows);
    expect(between(-Infinity, Infinity, null, rows.length - 1)).toBeNull();
  }
  sketches.close();
});

/** Takes all free blocks, so that the next one makes the memory grow. */
function takeFreeBlocks(): number[] {
  const size = views.integers.length;
  const taken: number[] = [];
  while (views.integers.length === size) taken.push(takeBlock());
  const added = (views.integers.length - size) / BLOCK;
  for (let block = 1; block < added; block++) taken.push(takeBlock());
  return taken;
}

test("a vector is sketched as it is when its sketch makes the memory grow", () => {
  const dimension = 384;
  const blocks = takeFreeBlocks();
  const [address = 0] = blocks;
  const vectorAt = () => {
    const numbers = views.integers.subarray(address, address + dimension);
    return { numbers: numbers.fill(1, 0, dimension / 2), factor: 0.05 };
  };
  const sketches = createSketches(dimension, new Float32Array(dimension), vectorAt);
  const { buffer } = views.integers;
  const count = 10_000;
  for (let row = 0; row < count; row++) sketches.put(row);
  expect(views.integers.buffer).not.toBe(buffer);
  const { of } = sketches.estimate(new Float32Array(dimension).fill(0.05));
  expect(new Set(Array.from({ length: count }, (_, row) => of(row))).size).toBe(1);
  sketches.close();
  releaseBlocks(blocks);
});

test("few products are computed to find the largest, or none if too many could be among them", () => {
  const length = 20_000;
  const truth = Float32Array.from({ length }, () => random.next() ** 3);
  const estimates = truth.map((number) => number + 0.02 * (random.next() - 0.5));
  const of = (row: number) => estimates[row] ?? 0;
  const estimated = (error: number): Estimates => ({
    error,
    of,
    between(low, high, accepts, most) {
      const found = [...estimates.keys()].filter(
        (row) => of(row) >= low && of(row) < high && (accepts?.(row) ?? true),
      );
      return found.length > most ? null : found;
    },
  });
  for (const accepts of [null, (row: number) => row % 7 === 0, (row: number) => row < 30]) {
    let computed = 0;
    const productsOf = (rows: readonly number[]) => {
      computed += rows.length;
      return Float32Array.from(rows, (row) => truth[row] ?? 0);
    };
    const wanted = [...truth.keys()]
      .filter((row) => accepts?.(row) ?? true)
      .sort((a, b) => (truth[b] ?? 0) - (truth[a] ?? 0))
      .slice(0, 50);
    const asked = { length, count: 50, accepts };
    expect(largestEstimated(estimated(0.01), asked, productsOf)).toEqual(wanted);
    expect(computed).toBeLessThan(length / 8);
    if (accepts === null) {
      expect(largestEstimated(estimated(1), asked, productsOf)).toBeNull();
    }
  }
});

/** What bytes in place of numbers change in a product, at the most. */
const ROUGH = 0.002;

test("among many vectors the nearest are found, with and without a filter and after changes", () => {
  const dimension = 384;
  const { any } = createTexts(dimension);
  const index = createVectorIndex(dimension);
  const vectors = new Map<number, Float32Array>();
  const put = (owner: number) => {
    const vector = any();
    index.remove(owner);
    index.put(owner, [vector]);
    vectors.set(owner, vector);
  };
  const check = (count: number, accepts: ((owner: number) => boolean) | null) => {
    const query = any();
    const found = index.nearest(query, { count, least: 1, accepts });
    const nearest = [...vectors]
      .filter(([owner]) => accepts?.(owner) ?? true)
      .map(([owner, vector]) => ({ owner, product: product(vector, query) }))
      .sort((a, b) => b.product - a.product)
      .slice(0, count);
    const missed = nearest.filter(({ owner }) => !found.has(owner));
    expect(found.size).toBe(Math.min(count, nearest.length));
    // The first half is complete, and at the end hardly one is another.
    expect(missed.length).toBeLessThanOrEqual(count / 50);
    expect(nearest.slice(0, count / 2).every(({ owner }) => found.has(owner))).toBe(true);
    const least = nearest[Math.floor(nearest.length / 2)]?.product ?? 0;
    const above = index.above(query, { count, least, accepts: accepts ?? (() => true) });
    const missing = nearest.filter(
      ({ owner, product }) => product > least + ROUGH && !above.has(owner),
    );
    expect(missing.length).toBeLessThanOrEqual(count / 50);
    const products = new Map(nearest.map(({ owner, product }) => [owner, product]));
    for (const owner of above) expect(products.get(owner)).toBeGreaterThan(least - ROUGH);
  };
  for (let owner = 0; owner < 46_000; owner++) put(owner);
  check(100, null);
  check(100, (owner) => owner % 9 === 0);
  check(100, (owner) => owner < 40);
  check(1_000, null);
  for (let owner = 0; owner < 46_000; owner += 5) put(owner);
  for (let owner = 0; owner < 46_000; owner += 11) {
    index.remove(owner);
    vectors.delete(owner);
  }
  check(100, null);
  const { bytes } = index;
  index.close();
  expect(index.bytes).toBeLessThan(bytes);
  expect(index.nearest(any(), { count: 10, least: 1, accepts: null }).size).toBe(0);
});
