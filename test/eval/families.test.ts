import { expect, test } from "bun:test";
import { type FamilyPair, readFamilyPairs } from "./families.ts";

const pairs = { dev: await readFamilyPairs("dev"), held: await readFamilyPairs("held") };

test("both halves have families with pairs of all kinds", () => {
  const families = (of: FamilyPair[]) => new Set(of.map(({ family }) => family)).size;
  expect(families(pairs.dev)).toBeGreaterThan(1_500);
  expect(families(pairs.held)).toBeGreaterThan(200);
  for (const of of [pairs.dev, pairs.held]) {
    for (const kind of ["same", "changed", "other"] as const) {
      expect(of.filter((pair) => pair.kind === kind).length).toBeGreaterThan(of.length / 20);
    }
  }
});

test("no pair compares a text with itself, and no family of one half is in the other", () => {
  const all = [...pairs.dev, ...pairs.held];
  expect(all.filter(({ earlier, later }) => earlier === later)).toEqual([]);
  const texts = new Set(pairs.dev.flatMap(({ earlier, later }) => [earlier, later]));
  expect(pairs.held.filter(({ earlier, later }) => texts.has(earlier) || texts.has(later))).toEqual(
    [],
  );
});
