import { describe, expect, test } from "bun:test";
import { cosine } from "../support/cosine.ts";
import { keeps } from "./budgets.ts";
import { drawChart, ticks } from "./chart.ts";
import { median, percentile } from "./numbers.ts";
import { readOptions } from "./options.ts";
import { createSentences } from "./sentences.ts";
import { metricOf } from "./server-metrics.ts";
import { createStandIn } from "./stand-in.ts";

describe("the sentences of the bench", () => {
  const count = 3_000;
  const draw = (seed: number) => {
    const sentences = createSentences(seed);
    return Array.from({ length: count }, () => ({
      memory: sentences.memory(),
      query: sentences.query(),
    }));
  };
  const wordsIn = (text: string) => text.toLowerCase().match(/\p{L}+/gu) ?? [];

  test("are the same for the same seed and others for another", () => {
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)[0]).not.toEqual(draw(2)[0]);
  });

  test("are never alike, and of several thousand words", () => {
    const drawn = draw(3);
    expect(new Set(drawn.map(({ memory }) => memory.content)).size).toBe(count);
    expect(new Set(drawn.map(({ query }) => query)).size).toBe(count);
    const words = new Set(drawn.flatMap(({ memory }) => wordsIn(memory.content)));
    expect(words.size).toBeGreaterThan(3_000);
  });

  test("have realistic lengths", () => {
    const drawn = draw(4);
    const lengths = drawn.map(({ memory }) => memory.content.split(" ").length);
    const short = lengths.filter((length) => length >= 8 && length <= 45);
    expect(short.length).toBeGreaterThan(0.98 * count);
    expect(Math.max(...lengths)).toBeGreaterThan(300);
    const queries = drawn.map(({ query }) => query.split(" ").length);
    expect(Math.min(...queries)).toBeGreaterThanOrEqual(4);
    expect(Math.max(...queries)).toBeLessThanOrEqual(16);
  });
});

test("percentiles are by the nearest rank, whatever the order", () => {
  expect(percentile([5, 1, 4, 2, 3], 0.8)).toBe(4);
  expect(percentile([5, 1, 4, 2, 3], 1)).toBe(5);
  expect(median([3])).toBe(3);
  expect(percentile([], 0.5)).toBeNaN();
});

test("a budget is kept at its bound and missed beyond it", () => {
  expect(keeps({ name: "search", memories: 10_000, floor: 4, figure: 7 })).toBe(true);
  expect(keeps({ name: "search", memories: 10_000, floor: 4, figure: 7.1 })).toBe(false);
  expect(keeps({ name: "search", memories: 100_000, floor: 4, figure: 10 })).toBe(true);
  expect(keeps({ name: "bulkWrite", memories: 10_000, floor: 100, figure: 91 })).toBe(false);
  expect(keeps({ name: "start", memories: 100_000, floor: null, figure: 5_000 })).toBeNull();
  expect(keeps({ name: "fragments", memories: 10_000, floor: null, figure: 5_000 })).toBeNull();
});

test("another program is not measured with more memories than HTTP takes", () => {
  const [most, more] = ["100000", "1000000"];
  expect(readOptions(["--checkout", "/old", "--memories", most]).checkout).toBe("/old");
  expect(readOptions(["--source", "--memories", more]).sizes).toEqual([1_000_000]);
  for (const other of ["--checkout", "--executable"]) {
    expect(() => readOptions([other, "/old", "--memories", more])).toThrow("another program");
  }
});

test("a metric is read by its whole name, and is null where a server does not have it", () => {
  const metrics = [
    "# HELP ctxd_view_memories Memories.",
    "ctxd_view_memories_more 3",
    "ctxd_view_memories 12",
    'ctxd_upkeep_seconds_sum{chore="flush"} 1.5',
  ].join("\n");
  expect(metricOf(metrics, "ctxd_view_memories")).toBe(12);
  expect(metricOf(metrics, 'ctxd_upkeep_seconds_sum{chore="flush"}')).toBe(1.5);
  expect(metricOf(metrics, "ctxd_view")).toBeNull();
});

test("the stand-in's vectors have length 1, are the same for a text, and are not near another's", async () => {
  const { embedQuery, embedContent, model } = createStandIn();
  const [one, other] = [(await embedQuery("one")).vector, (await embedQuery("other")).vector];
  expect(one).toHaveLength(model.dimension);
  expect(cosine(one, one)).toBeCloseTo(1, 5);
  expect(Math.hypot(...one)).toBeCloseTo(1, 5);
  expect((await embedQuery("one")).vector).toEqual(one);
  expect(Math.abs(cosine(one, other))).toBeLessThan(0.3);
  expect((await embedContent("a".repeat(5_000))).vectors).toHaveLength(3);
});

describe("a chart", () => {
  test("is well-formed XML, whatever its labels", async () => {
    const svg = drawChart({
      title: "a < b & c",
      xLabel: "memories",
      yLabel: "ms",
      series: [
        {
          label: 'p50 "quoted"',
          points: [
            [0, 1],
            [10, 2.5],
          ],
          as: "line",
        },
        { label: "none", points: [], as: "dots" },
      ],
    });
    expect(svg).toContain("a &lt; b &amp; c");
    expect(svg).not.toContain("NaN");
    const open: string[] = [];
    for (const [, closing, name, self] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
      if (closing) expect(open.pop()).toBe(name ?? "");
      else if (!self) open.push(name ?? "");
    }
    expect(open).toEqual([]);
  });

  test("has round numbers on its axes, up to the largest value", () => {
    expect(ticks(0.7, 6)).toEqual([0, 0.2, 0.4, 0.6, 0.8]);
    expect(ticks(9_800, 8).at(-1)).toBe(10_000);
  });
});
