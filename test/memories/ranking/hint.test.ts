import { expect, test } from "bun:test";
import { hintOf, isRestatement, likenessOf } from "../../../src/memories/ranking/hint.ts";

const ALIKE = 0.9;

test.each([
  ["The timeout of the API is 30 s.", "The timeout of the API is 30 seconds."],
  ["Logs are kept for two weeks.", "Logs are kept for a fortnight."],
  ["Run the linter with `just lint`.", "Run the linter with `just lint`, please."],
])("%s says the same as %s", (earlier, later) => {
  const texts = [{ content: earlier }, { content: later }] as const;
  expect(isRestatement(...texts, ALIKE)).toBe(true);
  expect(hintOf(...texts, ALIKE)).toBe("near");
});

test.each([
  ["The timeout of the API is 30 s.", "The timeout of the API is 30 min."],
  ["Standup is at 9 am.", "Standup is at 9 pm."],
  ["Run the linter with `make lint-fast`.", "Run the linter with `just lint`."],
])("%s is changed by %s", (earlier, later) => {
  const texts = [{ content: earlier }, { content: later }] as const;
  expect(isRestatement(...texts, ALIKE)).toBe(false);
  expect(hintOf(...texts, ALIKE)).toBe("changed");
});

test.each([
  ["The checkout service listens on port 8080.", "The checkout service listens on port 6380."],
  ["Clara's birthday is on 21 October.", "Clara has their birthday on 30 March."],
])("%s is proposed to be superseded by %s", (earlier, later) => {
  expect(likenessOf({ content: earlier }, { content: later }, 0.75)).toBe("changed");
});

test.each([
  ["The language of the billing service is Go.", "The language of the gateway service is Go."],
  [
    "MySQL is where the indexer service stores its data.",
    "MySQL is where the reports service stores its data.",
  ],
])("nothing is proposed about %s and %s", (earlier, later) => {
  expect(likenessOf({ content: earlier }, { content: later }, 0.84)).toBeNull();
});

test.each([
  ["There are 8 GB of RAM in the proxy server.", "There are 8 GB of RAM in the archive server."],
  ["The demo host is backed up at 03:30.", "The mail host is backed up at 03:30."],
])("%s and %s stay two results", (one, other) => {
  expect(isRestatement({ content: one }, { content: other }, 0.84)).toBe(false);
  expect(likenessOf({ content: one }, { content: other }, 0.84)).toBeNull();
});
