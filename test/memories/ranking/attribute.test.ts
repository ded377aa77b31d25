import { expect, test } from "bun:test";
import { shareAttribute, tellOthers } from "../../../src/memories/ranking/versions/attribute.ts";

const PORT = "The port of the cache is 6399.";

test.each([
  ["another value", PORT, "The port of the cache is 6400."],
  ["a date before it", PORT, "As of 2026-03-22, the port of the cache is 6400."],
  ["a change", PORT, "The port of the cache changed from 6399 to 6400."],
  ["who said so", PORT, "Anna said that the port of the cache is 6400."],
  ["a note", PORT, "The port of the cache: 6400"],
  ["the value first", PORT, "6400 is now the port of the cache"],
  ["a clause", "The tone I want in reviews is blunt.", "The tone I want in reviews is friendly."],
  [
    "German",
    "Der Port von Katalog ist 80.",
    "Laut Nutzer ist der Port von Katalog 81, nicht mehr 80.",
  ],
  [
    "both inverted",
    "Stand heute ist der Port von Katalog 80.",
    "Seit Mai ist der Port von Katalog 81.",
  ],
])("two texts share an attribute: %s", (_, one, other) => {
  expect(shareAttribute(one, other)).toBe(true);
  expect(shareAttribute(other, one)).toBe(true);
});

test.each([
  ["another thing", "The port of the database is 6399."],
  ["a longer name", "The port of the cache server is 6400."],
  ["another attribute", "The region of the cache is Oslo."],
  ["an attribute of it", "The owner of the port of the cache is Anna."],
  ["no attribute", "The cache runs on port 6400."],
  ["where it is", "The port of the cache is in the wiki."],
  ["what it is", "The port of the cache is a problem."],
  ["only mentioned", "Ask Ben before you change the port of the cache."],
])("two texts share none: %s", (_, other) => {
  expect(shareAttribute(PORT, other)).toBe(false);
  expect(shareAttribute(other, PORT)).toBe(false);
});

test("German sentences about two people share none", () => {
  const [mother, sister] = ["Mutter", "Schwester"].map(
    (person) => `Laut Nutzer ist die Ärztin von meiner ${person} Dr. Moreau.`,
  );
  expect(shareAttribute(mother ?? "", sister ?? "")).toBe(false);
});

test.each([
  ["another attribute", "The region of the cache is Oslo.", "attribute"],
  ["another thing", "The port of the database is 5432.", "thing"],
  ["a longer name", "The port of the cache server is 6400.", null],
  ["another value", "The port of the cache is 6400.", null],
  ["no attribute", "The cache runs on port 6400.", null],
  ["another value of the new one", "The new port of the cache is 6400.", null],
  ["two facts", "The port of the database is 5432, the port of the cache is 6400.", null],
])("two memories tell different attributes: %s", (_, content, expected) => {
  expect(tellOthers({ content: PORT }, { content })).toBe(expected as null);
  expect(tellOthers({ content }, { content: PORT })).toBe(expected as null);
});

test.each([
  ["My birthday is the 3rd of May.", "My birthday is the 4th of May."],
  ["Anna is the head of sales.", "Anna is now the head of marketing."],
  ["My bank is the Bank of Ireland.", "My bank is the Bank of Scotland."],
  ["Spare key: the drawer in the kitchen", "Spare key: the shelf in the kitchen"],
  ["The best time for me is 9 am.", "The best time for me is in the evening."],
  ["The laptop I use is a Framework.", "The laptop I use is a ThinkPad."],
  ["The vet of the dog is Dr. Lee.", "The vet of the dogs is Dr. Lee."],
  ["The deadline for the report is Friday.", "The deadline of the report is Monday."],
])("two values of one fact are no different attributes: %s", (one, other) => {
  expect(tellOthers({ content: one }, { content: other })).toBeNull();
});
