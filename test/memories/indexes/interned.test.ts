import { expect, test } from "bun:test";
import { createInterned } from "../../../src/memories/indexes/texts.ts";

test("equal values have one number, until none has it", () => {
  const lists = createInterned<string[]>((list) => JSON.stringify(list));
  const first = lists.take(["a", "b"]);
  expect(lists.take(["a", "b"])).toBe(first);
  const other = lists.take(["a,b"]);
  expect(other).not.toBe(first);
  expect(lists.take(null)).toBe(0);
  expect([lists.find(null), lists.find(["a", "b"]), lists.find([])]).toEqual([0, first, -1]);
  lists.release(0);
  lists.release(first);
  expect(lists.value(first)).toEqual(["a", "b"]);
  lists.release(first);
  expect([lists.find(["a", "b"]), lists.value(first)]).toEqual([-1, null]);
  expect(lists.take(["c"])).toBe(first);
  expect(lists.value(other)).toEqual(["a,b"]);
});
