import { expect, test } from "bun:test";
import type { Relate } from "../../../src/embedding/relations/relater.ts";
import { hintOf, isRestatement, LEFT_OUT, likenessOf } from "../../../src/memories/ranking/hint.ts";
import { sharedEmbedder } from "../../support/embedder.ts";

const ALIKE = 0.9;
const { relate } = sharedEmbedder();

test.each([
  ["The timeout of the API is 30 s.", "The timeout of the API is 30 seconds."],
  ["Logs are kept for two weeks.", "Logs are kept for a fortnight."],
  ["Run the linter with `just lint`.", "Run the linter with `just lint`, please."],
])("%s says the same as %s", async (earlier, later) => {
  const texts = [{ content: earlier }, { content: later }] as const;
  expect(await isRestatement(...texts, ALIKE, relate)).toBe(true);
  expect(await hintOf(...texts, ALIKE, relate)).toBe("near");
});

test.each([
  ["The timeout of the API is 30 s.", "The timeout of the API is 30 min."],
  ["Standup is at 9 am.", "Standup is at 9 pm."],
  ["Run the linter with `make lint-fast`.", "Run the linter with `just lint`."],
])("%s is changed by %s", async (earlier, later) => {
  const texts = [{ content: earlier }, { content: later }] as const;
  expect(await isRestatement(...texts, ALIKE, relate)).toBe(false);
  expect(await hintOf(...texts, ALIKE, relate)).toBe("changed");
});

test("turns of a conversation are no likenesses, and neither are facts of other things or attributes", async () => {
  const sure: Relate = async () => ({ same: 0.99, changed: 0, answers: 0 });
  const like = (one: string, other: string) =>
    likenessOf({ content: one }, { content: other }, 1, sure);
  const port = "The port of the cache is 6399.";
  expect(await like(port, "The cache listens on 6399.")).toBe("same");
  expect(await like(port, "The port of the database is 6399.")).toBeNull();
  expect(await like(port, "The region of the cache is Oslo.")).toBeNull();
  expect(await like(`User: ${port}`, `Assistant: ${port}`)).toBeNull();
});

test("a small chance of a change is enough where both tell the same attribute, and not where one says more", async () => {
  const doubtful: Relate = async () => ({ same: 0, changed: 0.15, answers: 0 });
  const style = "The preferred style of tests is one assertion per test.";
  const later = { content: "As of 3 May, the preferred style of tests is tables of cases." };
  expect(await likenessOf({ content: style }, later, 0.75, doubtful)).toBe("changed");
  expect(await likenessOf({ content: style }, later, 0.75, doubtful, LEFT_OUT)).toBe("changed");
  const more = { content: "The preferred style of tests is in the wiki." };
  expect(await likenessOf({ content: style }, more, 0.75, doubtful)).toBeNull();
  const unlikely: Relate = async () => ({ same: 0, changed: 0.05, answers: 0 });
  expect(await likenessOf({ content: style }, later, 0.75, unlikely)).toBeNull();
});

test.each([
  ["The checkout service listens on port 8080.", "The checkout service listens on port 6380."],
  ["Clara's birthday is on 21 October.", "Clara has their birthday on 30 March."],
])("%s is proposed to be superseded by %s", async (earlier, later) => {
  expect(await likenessOf({ content: earlier }, { content: later }, 0.75, relate)).toBe("changed");
});

test.each([
  ["The language of the billing service is Go.", "The language of the gateway service is Go."],
  [
    "MySQL is where the indexer service stores its data.",
    "MySQL is where the reports service stores its data.",
  ],
])("nothing is proposed about %s and %s", async (earlier, later) => {
  expect(await likenessOf({ content: earlier }, { content: later }, 0.84, relate)).toBeNull();
});

test.each([
  ["There are 8 GB of RAM in the proxy server.", "There are 8 GB of RAM in the archive server."],
  ["The demo host is backed up at 03:30.", "The mail host is backed up at 03:30."],
])("%s and %s stay two results", async (one, other) => {
  expect(await isRestatement({ content: one }, { content: other }, 0.84, relate)).toBe(false);
  expect(await likenessOf({ content: one }, { content: other }, 0.84, relate)).toBeNull();
});

test.each([
  ["with few words in common and little meaning", 0.35, 0],
  ["with much meaning in common", 0.65, 1],
] as const)("texts %s are read as often as it pays", async (_, alike, times) => {
  const texts = [
    { content: "Clara swims in the lake before work." },
    { content: "The lamp of the hall flickers in winter." },
  ] as const;
  let asked = 0;
  const count: typeof relate = async () => {
    asked++;
    return { same: 0, changed: 0, answers: 0 };
  };
  expect(await likenessOf(...texts, alike, count)).toBeNull();
  expect(asked).toBe(times);
});
