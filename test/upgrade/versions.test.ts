import { expect, test } from "bun:test";
import { isNewer, VERSION } from "../../src/upgrade/release.ts";

test.each([
  ["0.2.0", "0.1.0", true],
  ["0.10.0", "0.9.9", true],
  ["1.0.0", "0.99.99", true],
  ["0.2.1", "0.2.0", true],
  ["0.2.0", "0.2.0", false],
  ["0.1.9", "0.2.0", false],
])("%s is newer than %s: %p", (version, than, expected) => {
  expect(isNewer(version, than)).toBe(expected);
});

test.each(["0.2", "0.2.0-rc.1", "v0.2.0", "01.2.3", "", "../../etc"])(
  "%p is not a version",
  (text) => expect(VERSION.test(text)).toBe(false),
);
