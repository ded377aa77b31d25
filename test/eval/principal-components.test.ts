import { expect, test } from "bun:test";
import { createRandom } from "../support/random.ts";
import { principalComponents } from "./principal-components.ts";

test("the directions in which vectors differ most are found, the strongest first", () => {
  const random = createRandom(5);
  const spread = () => random.next() - 0.5;
  // Along (3, 4, 0, 0) they differ much, along the third axis less, elsewhere hardly; around (5, 6, 7, 8).
  const vectors = Array.from({ length: 2_000 }, () => {
    const [much, less] = [10 * spread(), 4 * spread()];
    return Float32Array.of(5 + 0.6 * much, 6 + 0.8 * much, 7 + less, 8 + 0.1 * spread());
  });
  const { mean, components } = principalComponents(vectors, 2);
  for (const [at, value] of [5, 6, 7, 8].entries())
    expect(mean[at]).toBeWithin(value - 0.2, value + 0.2);
  const [first = new Float64Array(4), second = new Float64Array(4)] = components;
  expect(Math.abs(0.6 * (first[0] ?? 0) + 0.8 * (first[1] ?? 0))).toBeGreaterThan(0.999);
  expect(Math.abs(second[2] ?? 0)).toBeGreaterThan(0.999);
});
