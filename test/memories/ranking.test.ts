import { afterAll, describe, expect, test } from "bun:test";
import { DEFAULT_DECAY } from "../../src/config/config.ts";
import { type Candidate, type MemoryRow, UNSET } from "../../src/memories/model/rows.ts";
import { consider } from "../../src/memories/ranking/considered.ts";
import { type Question, readQuestion } from "../../src/memories/ranking/question.ts";
import { rankFirst } from "../../src/memories/ranking/rank.ts";
import { retention } from "../../src/memories/ranking/retention.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2026-06-01T00:00:00Z");
const asked = (fields: Partial<Question> = {}): Question => ({
  ...readQuestion("words", NOW),
  mode: "hybrid",
  model: { cosines: { unrelated: 0.4, same: 1 } },
  terms: [{ token: "word", rareness: 5, forms: [] }],
  understood: 1,
  memories: 1_000,
  decay: DEFAULT_DECAY,
  ...fields,
});

type Fields = Partial<Omit<Candidate, "memory"> & MemoryRow>;
const candidate = (
  id: string,
  { cosine = 0.7, matches = Float32Array.of(0), ...fields }: Fields = {},
): Candidate => ({
  memory: {
    ...UNSET,
    id,
    content: "",
    createdAt: NOW,
    updatedAt: NOW,
    starts: [0],
    ...fields,
  },
  cosine,
  passage: 0,
  matches,
});

const rank = (given: readonly Candidate[], question: Question) =>
  rankFirst(consider(given, question), [], question).finish(new Map());

test("decay follows the settings", () => {
  const old = candidate("a", { importance: 0, updatedAt: NOW - 10 * DAY });
  const scoreAt = (decay: Question["decay"]) =>
    rank([old], asked({ mode: "semantic", decay }))[0]?.score ?? 0;
  const fresh = scoreAt(null);
  expect(fresh).toBeGreaterThan(0);
  expect(scoreAt({ depth: 0, halfLifeDays: [10, 100] })).toBe(fresh);
  expect(scoreAt({ depth: 1, halfLifeDays: [10, 100] })).toBeCloseTo(fresh / 2, 4);
  expect(scoreAt({ depth: 0.5, halfLifeDays: [5, 100] })).toBeCloseTo(fresh * 0.625, 4);
});

describe("retention", () => {
  test.each([
    [0, 0, 1],
    [0, 30, 1 / 2],
    [0, 60, 1 / 4],
    [0.25, 60, 1 / 2],
    [0.5, 120, 1 / 2],
    [0.75, 240, 1 / 2],
    [1, 480, 1 / 2],
    [1, 960, 1 / 4],
    [0, 36_500, 0],
  ])("of importance %d after %d days is %d", (importance, days, expected) => {
    expect(retention(days * DAY, importance)).toBeCloseTo(expected, 6);
  });

  test("falls with age, and slower the more important a memory is", () => {
    for (let importance = 0; importance <= 1; importance += 0.1) {
      for (let days = 1; days < 1_000; days *= 2) {
        const kept = retention(days * DAY, importance);
        expect(kept).toBeLessThan(retention((days / 2) * DAY, importance));
        expect(kept).toBeGreaterThan(retention(days * DAY, importance - 0.1));
      }
    }
  });

  test("of a memory with a future time is that of a new one", () => {
    expect(retention(-DAY, 0)).toBe(1);
  });
});

describe("rank", () => {
  test("keeps scores within 0 and 1 for all inputs", () => {
    for (const cosine of [-1, 0, 0.4, 0.7, 1, 1.000_001, null]) {
      for (const match of [0, 1e-9, 2.2, 1e9]) {
        for (const updatedAt of [0, NOW, NOW + 1_000 * DAY]) {
          for (const importance of [0, 1]) {
            for (const mode of ["hybrid", "semantic", "keyword"] as const) {
              const matches = Float32Array.of(match);
              const given = [candidate("a", { cosine, matches, updatedAt, importance })];
              const [ranked] = rank(given, asked({ mode }));
              expect(ranked?.score ?? 0).toBeWithin(0, 1 + Number.EPSILON);
            }
          }
        }
      }
    }
  });

  test("lowers the score of an old memory by at most a quarter", () => {
    const old = candidate("a", { updatedAt: NOW - 100_000 * DAY, importance: 0, cosine: 1 });
    const score = (decay: Question["decay"]) =>
      rank([old], asked({ mode: "semantic", decay }))[0]?.score ?? 0;
    expect(score(DEFAULT_DECAY)).toBeCloseTo(0.75 * score(null), 3);
  });

  test("combines meaning and words of a memory, and returns it once", () => {
    const a = candidate("a", { cosine: 0.7, matches: Float32Array.of(1) });
    // It is also returned as a memory of its session, whose words were not compared.
    const again = candidate("a", { cosine: 0.7 });
    const ranked = rank([a, candidate("b", { cosine: 0.7 }), again], asked());
    expect(ranked.map(({ memory }) => memory.id)).toEqual(["a", "b"]);
    expect(ranked[0]?.score).toBeGreaterThan(ranked[1]?.score ?? 1);
  });

  test("puts the newest of equals first, then the highest id", () => {
    const equals = [
      candidate("b"),
      candidate("d", { createdAt: NOW - 1 }),
      candidate("c", { cosine: 0.700_000_1 }),
      candidate("a"),
    ];
    expect(rank(equals, asked({ mode: "semantic" })).map(({ memory }) => memory.id)).toEqual([
      "c",
      "b",
      "a",
      "d",
    ]);
  });

  test("of no candidates is empty", () => {
    expect(rank([], asked())).toEqual([]);
  });
});

describe("a search of aging memories", async () => {
  const server = await startServer();
  afterAll(server.close);

  test("puts the more important and the newer of two equal texts first", async () => {
    const ada = await server.account();
    const tagged = (tag: string, importance: number) =>
      ada.saveAll([{ content: "the same text", tags: [tag], importance }]);
    await tagged("old and weighty", 1);
    await tagged("old", 0.5);
    server.clock.advance(45 * DAY);
    await tagged("new", 0.5);
    server.clock.advance(45 * DAY);
    for (const mode of ["hybrid", "semantic", "keyword"]) {
      const found = await ada.search("the same text", { mode });
      expect(found.flatMap(({ tags }) => tags)).toEqual(["old and weighty", "new", "old"]);
      const [first, second, third] = found.map(({ score }) => score);
      expect(first).toBeGreaterThan(second ?? 1);
      expect(second).toBeGreaterThan(third ?? 1);
    }
  });

  test("keeps 95 % of the score of the most important memories after 30 days", async () => {
    const ada = await server.account();
    const kept = async (importance: number) => {
      const tag = `of ${importance}`;
      await ada.saveAll([{ content: "weighty words", tags: [tag], importance }]);
      const score = async () => (await ada.search("weighty words", { tags: tag }))[0]?.score ?? 0;
      const before = await score();
      server.clock.advance(30 * DAY);
      return (await score()) / before;
    };
    const [most, middle, least] = [await kept(1), await kept(0.5), await kept(0)];
    expect(most).toBeGreaterThanOrEqual(0.95);
    expect(most).toBeGreaterThan(middle);
    expect(middle).toBeGreaterThan(least);
    expect(least).toBeCloseTo(0.875, 3);
  });

  test("finds an old memory that is the only answer", async () => {
    const ada = await server.account();
    await ada.save({ content: "zeppelin timetable", importance: 0 });
    server.clock.advance(10_000 * DAY);
    await ada.save({ content: "something new" });
    expect(contentsOf(await ada.search("zeppelin timetable"))[0]).toBe("zeppelin timetable");
  });

  test("treats a changed memory as new", async () => {
    const ada = await server.account();
    const { id } = await ada.save({ content: "words", importance: 0 });
    const score = async () => (await ada.search("words"))[0]?.score;
    const fresh = await score();
    server.clock.advance(100 * DAY);
    expect(await score()).toBeLessThan(fresh ?? 0);
    await ada.update(id, { tags: ["touched"] });
    expect(await score()).toBe(fresh);
  });

  test("is not affected when the clock is set back", async () => {
    const ada = await server.account();
    server.clock.advance(300 * DAY);
    const { id, updated_at } = await ada.save({ content: "from tomorrow" });
    server.clock.advance(-300 * DAY);
    expect((await ada.search("from tomorrow"))[0]?.score).toBeLessThanOrEqual(1);
    const changed = await ada.update(id, { importance: 0.9 });
    expect(changed.updated_at).toBe(updated_at);
    const later = await ada.save({ content: "from today" });
    expect((await ada.list()).memories.map((memory) => memory.id)).toEqual([id, later.id]);
    expect(await ada.search("tomorrow today", { mode: "keyword" })).toHaveLength(2);
  });
});
