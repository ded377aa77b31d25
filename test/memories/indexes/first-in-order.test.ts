import { expect, test } from "bun:test";
import { firstInOrder } from "../../../src/memories/indexes/largest.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(2);

test.each(["rising", "falling", "mixed"])("the first of an order that is %s", (order) => {
  const keys = Array.from({ length: 300 }, (_, number) =>
    order === "mixed" ? random.below(100) : order === "rising" ? number : -number,
  );
  const compare = (a: number, b: number) => (keys[b] ?? 0) - (keys[a] ?? 0) || a - b;
  const accepts = (number: number) => number % 3 !== 0;
  const sorted = [...keys.keys()].filter(accepts).sort(compare);
  expect(firstInOrder(300, accepts, compare)).toEqual(sorted);
  for (const limit of [0, 1, 2, 50, 199, 200, 1_000]) {
    expect(firstInOrder(300, accepts, compare, limit)).toEqual(sorted.slice(0, limit));
  }
});
