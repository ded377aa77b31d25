import { expect, test } from "bun:test";
import learned from "../../../src/memories/ranking/chance.json" with { type: "json" };
import { chanceSigns } from "../../../src/memories/ranking/chance.ts";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import { RELATION_SIGNS } from "../../../src/memories/ranking/versions/relation.ts";
import { takesBack, VERSION_SIGNS } from "../../../src/memories/ranking/versions/signs.ts";

// The trees of versions/relation.json and trees.json name a sign by its number: another order is another model.

test("the signs of a chance are in the order of their weights", () => {
  const question = {
    ...readQuestion("Which port?", 0),
    ...{ mode: "hybrid" as const, terms: [], understood: 1, memories: 1 },
    ...{ model: { cosines: { unrelated: 0, same: 1 } }, decay: null },
  };
  const memory = { id: "a", content: "The port is 5432." };
  const ranked = [{ memory, sum: 0, signals: [] }] as unknown as Parameters<
    typeof chanceSigns
  >[0]["ranked"];
  const signs = chanceSigns({ question, ranked, considered: [], matches: new Map() });
  expect(Object.keys(signs)).toEqual(CHANCE_SIGNS);
  expect(Object.keys(learned.weights)).toEqual(CHANCE_SIGNS);
});

test("the signs of a relation are in the order that its trees were fitted with", () => {
  expect(Object.keys(RELATION_SIGNS)).toEqual(OF_RELATION);
});

test("the signs of versions are in the order that their trees were fitted with", () => {
  expect(Object.keys(VERSION_SIGNS)).toEqual(OF_VERSIONS);
});

const CHANCE_SIGNS = [
  "best sum",
  "best sum squared",
  "stands out",
  "meaning of the best",
  "words of the best",
  "both of the best",
  "word by word of the best",
  "best meaning",
  "best words",
  "best word by word",
  "rare words of the best",
  "length of the best",
  "understood",
  "words not understood",
  "words asked",
  "rareness asked",
  "one word",
  "no words",
  "absent words",
  "rarest absent word",
  "absent names",
  "memories",
  "least matched word",
  "next least matched word",
];

const OF_RELATION = [
  "alike",
  "very alike",
  "alike and retracts",
  "alike and changed",
  "shared",
  "shared of all",
  "in order",
  "retracts",
  "changed",
  "negation differs",
  "first of earlier",
  "first of later",
  "same first",
  "same last",
  "one region",
  "regions",
  "start replaced",
  "end replaced",
  "start and end replaced",
  "only start replaced",
  "only end replaced",
  "word put first",
  "added",
  "left out",
  "other numbers",
  "same numbers",
  "other days",
  "other codes",
  "other names",
  "same names",
  "one value for another",
  "one word for another",
  "no difference",
  "length",
  "lengths differ",
  "asks",
  "reports",
  "other speaker",
  "subject shared",
  "subject differs",
  "same subject",
  "rest shared",
  "other relatives",
  "other owner",
  "subject extra",
  "notes of other subjects",
  "other letters",
  "first after nothing",
  "first after an article",
  "first after a preposition",
  "first after is",
  "first after a",
  "first before nothing",
  "first before a preposition",
  "first before is",
  "first before a word",
  "first alike",
  "last after nothing",
  "last after an article",
  "last after a preposition",
  "last after is",
  "last after a",
  "last before nothing",
  "last before a preposition",
  "last before is",
  "last before a word",
  "last alike",
  "left out at a start",
  "added at a start",
  "same values",
  "same exact values",
  "words left out",
  "words added",
  "values left out",
  "values added",
  "other words",
];

const OF_VERSIONS = [
  "about",
  "changed",
  "alike",
  "alike and retracts",
  "alike and changed",
  "retracts",
  "has word of change",
  "asked in both",
  "asked in older",
  "asked in newer",
  "named in both",
  "named in older",
  "named in newer",
  "asked replaced",
  "meaning lost most",
  "meaning lost",
  "meaning gained most",
  "meaning gained",
  "others shared",
  "first shared",
  "each has own",
  "starts with another",
  "pronoun",
  "length",
  "same session",
  "other speaker",
  "asks",
  "reports",
  "place",
  "about past",
  "subject shared",
  "subject differs",
  "same subject",
  "rest shared",
  "other relatives",
  "other owner",
  "subject extra",
  "notes of other subjects",
  "asked in subject of older",
  "asked in subject of newer",
  "asked and lost",
  "asked and gained",
  "older is better",
  "newer is better",
  "meaning of older",
  "meaning of newer",
  "words of older",
  "words of newer",
  "word by word of older",
  "word by word of newer",
  "either word by word",
];

test.each([
  ["Postgres for the importer.", "Scrap that, MySQL from now on.", true],
  ["The port of the cache is 6379.", "Correction: the port of the cache is 6380.", true],
  ["The port of the cache is 6379.", "Correction: the port of the database is 5433.", false],
  ["Der Port des Caches ist 6379.", "Korrektur: Der Port des Servers ist 5433.", false],
])("%p, then %p: taken back is %p", (older, newer, isTakenBack) => {
  const at = (content: string, createdAt: number) => ({ content, createdAt, sessionId: null });
  expect(takesBack(at(older, 0), at(newer, 60_000))).toBe(isTakenBack);
  expect(takesBack(at(older, 0), at(newer, 3_600_000))).toBe(false);
});
