import { expect, test } from "bun:test";
import { readTrees } from "../../src/memories/ranking/trees.ts";
import { createRandom } from "../support/random.ts";
import { fitTrees } from "./boosting.ts";

const OPTIONS = { trees: 40, leaves: 4, rate: 0.3, leafSize: 5, penalty: 1 };

test("trees learn what no weighted sum can: either sign, but not both", () => {
  const random = createRandom(7);
  const examples = Array.from({ length: 400 }, () => {
    const features = [random.next(), random.next(), random.next()];
    const [first = 0, second = 0] = features;
    return { features, isTrue: first > 0.5 !== second > 0.5, weight: 1 };
  });
  const sumOf = readTrees(fitTrees(examples, OPTIONS));
  const right = examples.filter(
    ({ features, isTrue }) => sumOf(Float64Array.from(features)) > 0 === isTrue,
  );
  expect(right.length).toBeGreaterThan(0.95 * examples.length);
});

test("examples count by their weight", () => {
  const features = [1];
  const examples = [true, false].flatMap((isTrue) =>
    Array.from({ length: 20 }, () => ({ features, isTrue, weight: isTrue ? 9 : 1 })),
  );
  const sumOf = readTrees(fitTrees(examples, OPTIONS));
  expect(1 / (1 + Math.exp(-sumOf(Float64Array.of(1))))).toBeCloseTo(0.9, 1);
});

test("a sum reads every tree, down to the leaf", () => {
  const sumOf = readTrees({
    start: 0.5,
    trees: [[[0, 1, 1, 2], 1, [1, 0, 3, 4], 10, 100], [1000]],
  });
  expect(sumOf(Float64Array.of(1, 0))).toBe(1001.5);
  expect(sumOf(Float64Array.of(2, 0))).toBe(1010.5);
  expect(sumOf(Float64Array.of(2, 1))).toBe(1100.5);
});
