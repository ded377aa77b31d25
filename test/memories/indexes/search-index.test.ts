import { expect, test } from "bun:test";
import { compact } from "../../../src/memories/compact-vector.ts";
import { createSearchIndex } from "../../../src/memories/indexes/search-index.ts";

const vector = compact(Float32Array.of(1, 0));
const rowOf = (word: string) => ({ vector, content: `${word} `.repeat(10_000) });
const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

test("long texts wait for their turn, so that others have theirs", async () => {
  const usage = { bytes: 0 };
  const index = createSearchIndex(2, usage);
  for (const word of ["apple", "pear", "plum", "quince"]) index.add(word, rowOf(word));
  expect(index.size).toBe(1);
  index.remove("pear");
  await nextTurn();
  await nextTurn();
  expect(index.size).toBe(3);
  expect(index.matching("pear or quince", 5).map(({ id }) => id)).toEqual(["quince"]);
  // One that is there stays as it is until it is removed.
  index.add("plum", rowOf("pear"));
  expect(index.matching("pear", 5)).toEqual([]);
  await nextTurn();
  index.remove("plum");
  index.add("plum", rowOf("pear"));
  expect(index.matching("pear", 5).map(({ id }) => id)).toEqual(["plum"]);
  expect(usage.bytes).toBeGreaterThan(0);
  index.clear();
  expect([index.size, usage.bytes, index.nearest(new Float32Array(2), 1)]).toEqual([0, 0, []]);
});

test("a further passage of a memory is found by its vector alone", () => {
  const index = createSearchIndex(2, { bytes: 0 });
  index.add("a", { vector, content: "apple" });
  index.add("a#1", { vector, content: null });
  expect(index.nearest(Float32Array.of(1, 0), 5).sort()).toEqual(["a", "a#1"]);
  expect(index.matching("apple", 5).map(({ id }) => id)).toEqual(["a"]);
});
