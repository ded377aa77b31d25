import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type Client, contentsOf } from "../support/client.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { createRandom } from "../support/random.ts";
import { startServer } from "../support/server.ts";

// Enough numbers that two words seldom share one.
const server = await startServer({ embedder: fakeEmbedder({ dimension: 384 }) });
afterAll(server.close);

const MODES = ["hybrid", "semantic", "keyword"];

describe("a filter that leaves 20 of 10,000", () => {
  const FEW = 20;
  const MANY = 10_000;
  const WORDS = 3_000;
  const random = createRandom(5);
  /** A word with a few hundred others of the same beginning. */
  const word = (number: number) =>
    `w${number.toString(26).replaceAll(/\d/g, (digit) => `x${digit}`)}`;
  const some = (count: number) =>
    Array.from({ length: count }, () => word(random.below(WORDS))).join(" ");
  const few = Array.from({ length: FEW }, () => `${some(8)} today`);
  /** Half of each memory's words, with one of another. */
  const questions = few.map((content, at) => {
    const [first, , second, , third] = content.split(" ");
    return [first, second, third, few[(at + 1) % FEW]?.split(" ")[1]].join(" ");
  });
  let alone: Client;
  let among: Client;

  beforeAll(async () => {
    [alone, among] = [await server.account(), await server.account()];
    await alone.saveAll(few.map((content) => ({ content })));
    const line = (memory: object) => `${JSON.stringify(memory)}\n`;
    const others = Array.from({ length: MANY - FEW }, () => line({ content: `${some(8)} today` }));
    const imported = await among.send("POST", "/memories/import", {
      body: others.join(""),
      headers: { "content-type": "application/x-ndjson" },
    });
    expect(imported.body).toMatchObject({ created: MANY - FEW });
    await among.saveAll(few.map((content) => ({ content, tags: ["few"] })));
  });

  const both = async (q: string, mode: string) => ({
    alone: await alone.search(q, { mode, limit: FEW }),
    among: await among.search(q, { mode, limit: FEW, tags: "few" }),
  });

  test("finds the same first results as a store of these 20", async () => {
    for (const mode of MODES) {
      for (const [at, question] of questions.entries()) {
        const found = await both(question, mode);
        expect({ mode, first: contentsOf(found.alone)[0] }).toEqual({ mode, first: few[at] });
        expect({ mode, first: contentsOf(found.among)[0] }).toEqual({ mode, first: few[at] });
      }
    }
  });

  test("returns the same order and scores by meaning, which don't depend on other memories", async () => {
    for (const question of questions) {
      const found = await both(question, "semantic");
      expect(contentsOf(found.among)).toEqual(contentsOf(found.alone));
      expect(found.among.map(({ score }) => score)).toEqual(found.alone.map(({ score }) => score));
    }
  });

  test("finds the same by words, though a word's rareness follows from all memories", async () => {
    for (const question of questions) {
      const found = await both(question, "keyword");
      expect(contentsOf(found.among).toSorted()).toEqual(contentsOf(found.alone).toSorted());
    }
    // All 20 have this word, so it does not help there; among 10,000 it is as rare as others.
    const contents = contentsOf((await both("today", "keyword")).among);
    expect(contents.toSorted()).toEqual(few.toSorted());
  });

  test("finds all matching memories, however little they answer", async () => {
    for (const mode of ["hybrid", "semantic"]) {
      const found = await both("something else", mode);
      expect(contentsOf(found.among).toSorted()).toEqual(few.toSorted());
      expect(contentsOf(found.alone).toSorted()).toEqual(few.toSorted());
    }
  });
});

describe("a small store", () => {
  test("without memories returns none", async () => {
    const ada = await server.account();
    for (const mode of MODES) {
      expect(await ada.search("anything at all", { mode, explain: "true" })).toEqual([]);
      expect(await ada.search("x", { mode, tags: "x", min_score: 1 })).toEqual([]);
    }
  });

  test("of one memory returns it, with a higher score for a better match", async () => {
    const ada = await server.account();
    await ada.save({ content: "The deploy key is in the blue safe" });
    for (const mode of MODES) {
      const score = async (q: string) => (await ada.search(q, { mode }))[0]?.score ?? 0;
      const [whole, part, none] = [
        await score("the deploy key is in the blue safe"),
        await score("the deploy key of the red car"),
        await score("weather forecast"),
      ];
      // Both may have the highest score.
      const isOrdered = whole >= part && part > none + 0.2;
      expect({ mode, isOrdered }).toEqual({ mode, isOrdered: true });
      expect(whole).toBeWithin(0.5, 1.001);
      expect(Number.isFinite(none)).toBe(true);
    }
    expect(await ada.search("weather forecast", { mode: "keyword" })).toEqual([]);
  });

  test("of one memory returns the same with a session, an agent and tags", async () => {
    const ada = await server.account();
    await ada.save({ content: "tea", tags: ["drink"], agent_id: "a", session_id: "s" });
    for (const filter of [{}, { tags: "drink" }, { agent_id: "a" }, { session_id: "s" }]) {
      expect(await ada.search("tea", filter)).toHaveLength(1);
    }
    expect(await ada.search("tea", { tags: "food" })).toEqual([]);
  });

  test("of ten one-word memories finds each by its word", async () => {
    const ada = await server.account();
    const words = "tea coffee milk bread butter jam honey egg salt rice".split(" ");
    await ada.saveAll(words.map((content) => ({ content })));
    for (const mode of MODES) {
      for (const content of words) {
        const found = await ada.search(content, { mode });
        expect({ mode, first: found[0]?.content }).toEqual({ mode, first: content });
        expect(found[0]?.score).toBeGreaterThan(0.2);
        expect(found[1]?.score ?? 0).toBeLessThan(found[0]?.score ?? 0);
      }
    }
  });
});
