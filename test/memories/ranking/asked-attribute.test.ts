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
  ["another thing", "What is the port of the database?", "another thing"],
  ["a longer name", "What is the port of the cache server?", "similar thing"],
  ["another attribute", "What is the region of the cache?", "another attribute"],
  ["a part of the attribute", "What is the main port of the cache?", "similar attribute"],
  ["no attribute", "Which port has the cache?", null],
  ["somebody else's", "What is the port of my cache?", "similar thing"],
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

test("what tells the attribute under a condition does not come with it", () => {
  const [debug, warn] = [
    "In staging, the log level of the API is debug.",
    "The log level of the API is warn.",
  ].map(memoryOf) as [ReturnType<typeof memoryOf>, ReturnType<typeof memoryOf>];
  expect(readAsked("What is the log level of the API?").telling([debug, warn])).toEqual([warn]);
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

test.each([
  ["a noun goes on", "What is the size of the hotel garden?", "The size of the hotel is 40 rooms."],
  [
    "for somebody",
    "What is the dose of the medicine for Mia?",
    "The dose of the medicine is 10 ml.",
  ],
  ["why", "Why is the wifi in the office so slow?", "The wifi in the office is eduroam."],
  ["where", "Where is the office of the tax advisor?", "The office of the tax advisor is big."],
  [
    "a clause",
    "What is the name of the person who is on call?",
    "The name of the person who is here is Karl.",
  ],
  ["a longer number", "What is the date of version 2.1?", "The date of version 2 is 3 May."],
  [
    "an old name",
    "What is the population of Mexico?",
    "The population of New Mexico is 2 million.",
  ],
  ["who has it", "Who has the number of the plumber?", "The number of the plumber is 555."],
])("a memory does not tell what is asked: %s", (_, question, content) => {
  expect(readAsked(question).toldBy({ content })).not.toBe("asked");
});

test("of a question with a condition nothing surely tells what is asked", () => {
  const results = [PORT, "Staging: the cache listens on 7000."].map(memoryOf);
  expect(readAsked("In staging, what is the port of the cache?").telling(results)).toEqual([]);
});

test.each([
  ["what is said about it", "The port of the cache is closed for outsiders."],
  ["a turn that asks", "User: what is the port of the cache"],
  ["what an assistant said", "Assistant: The port of the cache is 6399."],
])("two memories do not both tell what is asked: %s", (_, content) => {
  const { tellBoth } = readAsked("What is the port of the cache?");
  expect(tellBoth({ content: PORT }, { content })).toBe(false);
});
