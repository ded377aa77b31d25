import { describe, expect, test } from "bun:test";
import { degreesOf, growthOf } from "../../src/dashboard/overview-tables.ts";
import { sizeText } from "../../src/dashboard/size.ts";

const DAY = 86_400_000;

/** A memory a day, for so many days up to 2026-11-21. */
function daily(count: number) {
  const last = Date.parse("2026-11-21");
  return {
    memories: count,
    days: Array.from({ length: count }, (_, index) => ({
      day: new Date(last - (count - 1 - index) * DAY).toISOString().slice(0, 10),
      memories: 1,
    })),
  };
}

describe("the table of growth", () => {
  test("has days while they are few, the newest first, with what there was after each", () => {
    expect(growthOf(daily(3))).toEqual([
      { period: "2026-11-21", added: 1, total: 3 },
      { period: "2026-11-20", added: 1, total: 2 },
      { period: "2026-11-19", added: 1, total: 1 },
    ]);
    expect(growthOf(daily(40))).toHaveLength(40);
  });

  test("has months, then years, when days are many", () => {
    expect(growthOf(daily(41)).slice(0, 2)).toEqual([
      { period: "2026-11", added: 21, total: 41 },
      { period: "2026-10", added: 20, total: 20 },
    ]);
    expect(growthOf(daily(3_000))[0]).toEqual({ period: "2026", added: 325, total: 3_000 });
  });

  test("counts what is older than its days", () => {
    expect(growthOf({ ...daily(1), memories: 100 })).toEqual([
      { period: "2026-11-21", added: 1, total: 100 },
    ]);
    expect(growthOf({ memories: 0, days: [] })).toEqual([]);
  });
});

test("every memory is left to one degree", () => {
  const cells = [1, 0.75, 0.74, 0.5, 0.26, 0.1, 0].map((retention) => ({
    ...{ retention, memories: 2, age_days: 0, importance: 0.5 },
  }));
  expect(degreesOf({ fading: cells }).map(({ memories }) => memories)).toEqual([4, 4, 2, 4]);
});

test.each([
  [0, "0 bytes"],
  [999, "999 bytes"],
  [1_000, "1.0 KB"],
  [67_400, "67 KB"],
  [660_800_000, "661 MB"],
  [5e15, "5000 TB"],
])("%d bytes are %s", (bytes, text) => {
  expect(sizeText(bytes)).toBe(text);
});
