import { beforeAll, expect, test } from "bun:test";
import { sharedEmbedder } from "../support/embedder.ts";
import { hintShares, judgePair } from "./hints.ts";
import { readPairs } from "./pairs.ts";
import { createLikeness } from "./training/relation-examples.ts";

// The trees are fitted to the other half.
let shares: ReturnType<typeof hintShares>;
beforeAll(async () => {
  const { likenessOf } = createLikeness(sharedEmbedder());
  const pairs = await readPairs("held");
  const likenesses = await Promise.all(
    pairs.map(({ earlier, later }) => likenessOf(earlier, later)),
  );
  shares = hintShares(
    pairs.flatMap((pair, at) => {
      const likeness = likenesses[at];
      return likeness ? [judgePair(pair, likeness)] : [];
    }),
  );
}, 60_000);

// Measured 0.96 of 78, of which 1 counts as the same; 0.77 of what is told as changed has changed.
test("a hint tells that a value has changed, and hardly ever that it is the same", () => {
  expect(shares.changed).toBeGreaterThanOrEqual(75);
  expect(shares.recall).toBeGreaterThanOrEqual(0.93);
  expect(shares["called the same"]).toBeLessThanOrEqual(0.03);
  expect(shares.precision).toBeGreaterThanOrEqual(0.75);
});

test("a hint tells little of what is about something else", () => {
  expect(shares["told of others"]).toBeLessThanOrEqual(0.05);
});

// Measured 0.73, and 1 of 189.
test("restatements are one, and hardly ever what differs", () => {
  expect(shares.merged).toBeGreaterThanOrEqual(0.7);
  expect(shares["merged across a difference"]).toBeLessThanOrEqual(0.01);
});
