import { expect, test } from "bun:test";
import { along, principalComponents } from "../../../src/memories/map/principal-components.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(5);
const spread = () => random.next() - 0.5;
// Along (3, 4, 0, 0) they differ much, along the third axis less, elsewhere hardly; around (5, 6, 7, 8).
const known = Array.from({ length: 2_000 }, () => ({ much: 10 * spread(), less: 4 * spread() }));
const vectors = Float32Array.from(
  known.flatMap(({ much, less }) => [5 + 0.6 * much, 6 + 0.8 * much, 7 + less, 8 + 0.1 * spread()]),
);

test("the directions in which vectors differ most are found, the strongest first", () => {
  const { mean, directions } = principalComponents(vectors, 4, 2);
  for (const [at, value] of [5, 6, 7, 8].entries())
    expect(mean[at]).toBeWithin(value - 0.2, value + 0.2);
  const [first = new Float64Array(4), second = new Float64Array(4)] = directions;
  expect(Math.abs(0.6 * (first[0] ?? 0) + 0.8 * (first[1] ?? 0))).toBeGreaterThan(0.999);
  expect(Math.abs(second[2] ?? 0)).toBeGreaterThan(0.999);
});

test("vectors lie along them as far from each other as they are", () => {
  const numbers = along(vectors, principalComponents(vectors, 4, 2));
  const side = Math.sign((numbers[0] ?? 0) * (known[0]?.much ?? 0));
  for (const [row, { much }] of known.entries()) {
    const moved = side * (numbers[2 * row] ?? 0) - much;
    expect(moved).toBeWithin(-0.3, 0.3);
  }
});

test("what differs in fewer directions than are asked for has no others", () => {
  const { directions } = principalComponents(Float32Array.of(1, 0, 0, -1, 0, 0), 3, 2);
  expect(directions.map((direction) => Math.hypot(...direction))).toEqual([1, 0]);
});
