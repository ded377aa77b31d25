import { expect, test } from "bun:test";
import { checkClock } from "../../src/doctor/examine.ts";

const moment = Date.parse("2026-11-21T07:00:00Z");

test.each([
  ["before the program was built", Date.parse("2001-01-01T00:00:00Z"), null, "problem"],
  ["an hour before the newest memory", moment - 3_600_000, moment, "problem"],
  ["a minute before the newest memory", moment - 60_000, moment, "ok"],
  ["after the newest memory", moment + 1, moment, "ok"],
  ["correct without any memory", moment, null, "ok"],
] as const)("a clock %s is checked", (_, now, newest, state) => {
  expect(checkClock(now, newest)).toMatchObject({ check: "clock", state });
});

test("a wrong clock is a problem with a remedy", () => {
  expect(checkClock(moment - 3_600_000, moment).message).toMatch(
    /2026-11-21T06.*2026-11-21T07.*set the clock/,
  );
});
