import { expect, test } from "bun:test";
import { hintOf, isRestatement } from "../../../src/memories/ranking/hint.ts";

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
