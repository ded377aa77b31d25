import { expect, test } from "bun:test";
import { createReportedEvents } from "../../src/security-log/security-log.ts";

test("an event is reported once, also one with a lower number that appears later", () => {
  const told = createReportedEvents(10);
  const look = (newest: number, seen: readonly number[]) => {
    const fresh = seen.filter((id) => id > told.before()).filter((id) => told.add(id));
    told.moveOn(newest);
    return fresh;
  };
  expect(look(13, [9, 10, 11, 13])).toEqual([11, 13]);
  expect(look(13, [11, 12, 13])).toEqual([12]);
  expect(look(14, [11, 12, 13, 14])).toEqual([14]);
  for (let quiet = 0; quiet < 5; quiet++) expect(look(14, [11, 12, 13, 14])).toEqual([]);
  expect(told.before()).toBe(14);
  expect(look(15, [14, 15])).toEqual([15]);
});
