import { expect, test } from "bun:test";
import { readAsked } from "../../../src/memories/ranking/versions/asked-attribute.ts";

const PORT = "The port of the cache is 6399.";

test.each([
  ["a question", "What is the port of the cache?", PORT],
  ["a request", "Remind me of the port of the cache, please.", "6399 is the port of the cache."],
  ["a part of a sentence", "Before I write it down, the port of the cache is what?", PORT],
  [
    "another case in German",
    "Kannst du mir den Port von Katalog sagen?",
    "Laut Nutzer ist der Port von Katalog 81, nicht mehr 80.",
  ],
  [
    "a clause",
    "Which is the editor I want commands for?",
    "As of May, the editor I want commands for is Helix.",
  ],
])("a memory tells what is asked: %s", (_, question, content) => {
  expect(readAsked(question).toldBy({ content })).toBe("asked");
});

test.each([
  ["another thing", "What is the port of the database?", "another"],
  ["a longer name", "What is the port of the cache server?", "similar"],
  ["another attribute", "What is the region of the cache?", "another"],
  ["a part of the attribute", "What is the main port of the cache?", "similar"],
  ["no attribute", "Which port has the cache?", null],
  ["somebody else's", "What is the port of my cache?", "similar"],
])("a memory does not tell what is asked: %s", (_, question, told) => {
  expect(readAsked(question).toldBy({ content: PORT })).toBe(told as null);
});

test("a turn that asks tells nothing", () => {
  const content = "User: What is the port of the cache?";
  expect(readAsked("What is the port of the cache?").toldBy({ content })).toBeNull();
});

const memoryOf = (content: string) => ({ memory: { content } });

test("what tells the attribute comes with what mentions it", () => {
  const [told, ended, other] = [
    PORT,
    "Anna gave up the port of the cache without a replacement.",
    "The port of the database is 5432.",
  ].map(memoryOf) as [ReturnType<typeof memoryOf>, ReturnType<typeof memoryOf>, unknown];
  const results = [ended, other as typeof told, told];
  expect(readAsked("What is the port of the cache?").telling(results)).toEqual([ended, told]);
});

test("a thing whose name has the form of an attribute is none", () => {
  const results = [
    "The flat in Porto: arrival 2 pm or later",
    "A night in the flat in Porto costs 72 euros.",
    "Marisa cleans the flat in Porto on Mondays.",
  ].map(memoryOf);
  expect(readAsked("What is the flat in Porto?").telling(results)).toEqual([]);
  expect(readAsked("What does a night in the flat in Porto cost?").telling(results)).toEqual([]);
});

test("of two memories only one of which tells what is asked, none is a version of the other", () => {
  const { tellsOne, tellBoth } = readAsked("What is the port of the cache?");
  const [port, newer, test] = [
    PORT,
    "The port of the cache is 6400.",
    "The port of the test cache is 6401.",
  ].map((content) => ({ content })) as [
    { content: string },
    { content: string },
    { content: string },
  ];
  expect([tellsOne(port, newer), tellBoth(port, newer)]).toEqual([false, true]);
  expect([tellsOne(port, test), tellBoth(port, test)]).toEqual([true, false]);
});
