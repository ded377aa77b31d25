import { expect, test } from "bun:test";
import { type MemoryRow, UNSET } from "../../../src/memories/model/rows.ts";
import { createRowCache } from "../../../src/memories/view/columns.ts";
import { createRandom } from "../../support/random.ts";

/** The slots that share a place are multiples of this number apart. */
const PLACES = 8_192;
const LONG = 3_000;

const rowOf = (slot: number, version: number): MemoryRow => ({
  ...UNSET,
  id: `${slot} ${version}`,
  content: slot % 7 === 0 ? "x".repeat(LONG) : "",
  createdAt: 0,
  updatedAt: 0,
  starts: [],
});

test("a slot has its own row, also when others share its place and when it gets another memory", () => {
  const random = createRandom(3);
  const versions = new Map<number, number>();
  const rows = createRowCache((slot) => rowOf(slot, versions.get(slot) ?? 0));
  for (let step = 0; step < 5_000; step++) {
    const slot = random.below(30) + PLACES * random.below(3);
    const version = versions.get(slot) ?? 0;
    if (random.below(5) === 0) {
      rows.remove(slot);
      versions.set(slot, version + 1);
      expect(rows.peek(slot)).toBeUndefined();
    } else {
      expect(rows.get(slot).id).toBe(`${slot} ${version}`);
    }
  }
});

test("a row is made once, except for a long text, which takes too much memory", () => {
  let made = 0;
  const rows = createRowCache((slot) => rowOf(slot, made++));
  expect(rows.get(1)).toBe(rows.get(1));
  expect(rows.get(7)).not.toBe(rows.get(7));
  expect(made).toBe(3);
  rows.clear();
  expect(rows.peek(1)).toBeUndefined();
});
