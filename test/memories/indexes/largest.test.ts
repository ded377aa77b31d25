import { expect, test } from "bun:test";
import { largest } from "../../../src/memories/indexes/largest.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(11);

test("the largest values come first, equal ones by their places", () => {
  for (let round = 0; round < 300; round++) {
    const length = random.below(60);
    const values = Float32Array.from({ length: length + 5 }, () => random.below(12) / 4 - 1);
    const count = random.below(20);
    const isEven = (place: number) => place % 2 === 0;
    const accepts = random.below(2) === 0 ? isEven : null;
    const above = random.below(2) === 0 ? 0 : undefined;
    const sorted = Array.from(values.keys())
      .filter((place) => place < length && (accepts === null || accepts(place)))
      .filter((place) => above === undefined || (values[place] ?? 0) > above)
      .sort((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b);
    expect(largest(values, length, count, accepts, above)).toEqual(sorted.slice(0, count));
  }
});

test("a value is accepted or not only if it would be among the largest", () => {
  const falling = Float32Array.from({ length: 100 }, (_, place) => -place);
  const asked: number[] = [];
  const accepts = (place: number) => asked.push(place) > 0;
  expect(largest(falling, 100, 3, accepts)).toEqual([0, 1, 2]);
  expect(asked).toEqual([0, 1, 2]);
});
