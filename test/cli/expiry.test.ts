import { expect, test } from "bun:test";
import { parseExpiry } from "../../src/cli/options.ts";

const DAY = 86_400_000;

test.each([
  ["1h", DAY / 24],
  ["12h", DAY / 2],
  ["90d", 90 * DAY],
  ["2w", 14 * DAY],
  ["1y", 365 * DAY],
  ["9999y", 9_999 * 365 * DAY],
])("%s is a time from now", (text, length) => {
  const moment = parseExpiry(text).getTime();
  expect(Math.abs(moment - Date.now() - length)).toBeLessThan(1_000);
});

test.each([
  ["2999-01-31", "2999-01-31T00:00:00.000Z"],
  ["2996-02-29", "2996-02-29T00:00:00.000Z"],
  ["2999-01-31T18:00Z", "2999-01-31T18:00:00.000Z"],
  ["2999-01-31T18:00:05.25+02:00", "2999-01-31T16:00:05.250Z"],
])("%s is a date", (text, moment) => {
  expect(parseExpiry(text).toISOString()).toBe(moment);
});

test.each(["", "90", "d", "90m", "90D", "1.5d", "-1d", "99999d", "tomorrow", "31.01.2999"])(
  "%j is refused with what is allowed",
  (text) => expect(() => parseExpiry(text)).toThrow("12h, 90d, 2w, 1y"),
);

test.each(["2999-02-29", "2999-02-30", "2999-13-01", "2999-01-31T18:00", "2999-01-31T25:00Z"])(
  "%j is no date",
  (text) => expect(() => parseExpiry(text)).toThrow("2027-01-31"),
);

test.each(["0d", "2001-01-01"])("%j is past", (text) => {
  expect(() => parseExpiry(text)).toThrow("a time in the future");
});
