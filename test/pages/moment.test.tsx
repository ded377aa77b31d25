/** @jsxRuntime automatic @jsxImportSource #pages */
import { expect, test } from "bun:test";
import { Moment } from "../../src/pages/moment.tsx";
import source from "../../src/pages/scripts/moments.browser.js" with { type: "text" };

const NOW = Date.parse("2026-11-22T12:00:00Z");
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The function of the script that produces the same texts in the browser. */
const { relativeText } = new Function(
  "document",
  "setInterval",
  `${source}; return { relativeText };`,
)({ querySelectorAll: () => [], addEventListener() {} }, () => {});

test.each<[number, string]>([
  [0, "just now"],
  [59_999, "just now"],
  [-30_000, "just now"],
  [MINUTE, "1 min ago"],
  [59 * MINUTE, "59 min ago"],
  [-90 * MINUTE, "in 1 h"],
  [3 * HOUR, "3 h ago"],
  [6.9 * DAY, "6 d ago"],
  [-2 * DAY, "in 2 d"],
  [7 * DAY, "15 Nov"],
  [-30 * DAY, "22 Dec"],
  [400 * DAY, "18 Oct 2025"],
])("a time %d ms before now is shown as “%s”, also by the script", (age, words) => {
  const at = new Date(NOW - age);
  expect(`${<Moment at={at} now={NOW} />}`).toContain(`>${words}</time>`);
  expect(relativeText(at, NOW)).toBe(words);
});

test("the exact time is a tooltip, and a missing time is shown as never", () => {
  const at = new Date(NOW - DAY);
  expect(`${<Moment at={at} now={NOW} />}`).toContain('title="21 Nov 2026, 12:00 UTC"');
  expect(`${<Moment at={at} exact={true} />}`).toContain(">21 Nov 2026, 12:00 UTC</time>");
  expect(`${<Moment at={null} none="not yet" />}`).toContain("not yet");
});
