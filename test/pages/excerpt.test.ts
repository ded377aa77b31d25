import { expect, test } from "bun:test";
import { excerptOf } from "../../src/text/excerpt.ts";

test("an excerpt has at most the given characters, on one line, and none of them is cut", () => {
  expect(excerptOf(" one\n\ttwo ", 7)).toBe("one two");
  expect(excerptOf("one two three", 8)).toBe("one two…");
  expect(excerptOf("🐈".repeat(8), 8)).toBe("🐈".repeat(8));
  for (const length of [9, 16, 1_000]) {
    expect(excerptOf("🐈".repeat(length), 8)).toBe(`${"🐈".repeat(7)}…`);
  }
  expect(excerptOf(`${" ".repeat(1_000)}late`, 8)).toBe("late");
});
