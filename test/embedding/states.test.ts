import { describe, expect, test } from "bun:test";
import { MAX_STATES, STATE_BYTES } from "../../src/embedding/embedder.ts";
import { sharedEmbedder } from "../support/embedder.ts";

const embedder = sharedEmbedder();

/** The cosine of each state with the most similar of others, −1 to 1. */
function nearest(asked: Int8Array, states: Int8Array): number[] {
  const rows = (numbers: Int8Array) =>
    Array.from({ length: numbers.length / STATE_BYTES }, (_, row) =>
      numbers.subarray(row * STATE_BYTES, (row + 1) * STATE_BYTES),
    );
  const product = (a: Int8Array, b: Int8Array) =>
    a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0) / 127 ** 2;
  return rows(asked).map((row) => Math.max(...rows(states).map((other) => product(row, other))));
}

describe("token states", () => {
  test("exist for content words only, each with its word", async () => {
    const ask = async (text: string) => (await embedder.embedQuery(text)).states.words;
    expect(await ask("Where is my DAUGHTER's bicycle?")).toEqual(["daughter", "bicycle"]);
    expect(await ask("👩‍👩‍👧 Straße, naïve: Wolkenkuckucksheim!")).toEqual([
      ...["straße", "straße", "naïve"],
      ...Array.from({ length: 7 }, () => "wolkenkuckucksheim"),
    ]);
    expect(await ask("who is he?")).toEqual([]);
    expect(await ask("🎉 … !")).toEqual([]);
  });

  test("are normalized, and equal for a query and a content", async () => {
    const text = "The gearbox of the red bicycle";
    const { states } = await embedder.embedQuery(text);
    expect(states.numbers).toHaveLength(states.words.length * STATE_BYTES);
    expect((await embedder.embedContent(text)).states).toEqual(states.numbers);
    for (let row = 0; row < states.words.length; row++) {
      const state = states.numbers.subarray(row * STATE_BYTES, (row + 1) * STATE_BYTES);
      expect(Math.hypot(...state)).toBeWithin(125, 129);
    }
  });

  test("are similar for words with the same meaning only", async () => {
    const { states: asked } = await embedder.embedQuery("allergic to nuts");
    const { states: said } = await embedder.embedContent(
      "My child can't stand peanuts: allergies!",
    );
    const { states: other } = await embedder.embedContent(
      "The meeting was moved to Friday at ten.",
    );
    const [near, far] = [nearest(asked.numbers, said), nearest(asked.numbers, other)];
    expect(near).toHaveLength(2);
    for (const [at, value] of near.entries()) expect(value).toBeGreaterThan((far[at] ?? 0) + 0.1);
  });

  test("of a long text are those of rare tokens, spread over all passages", async () => {
    const filler = "The weekly report was filed and nobody had anything to add to it. ";
    const text = `Zanzibar! ${filler.repeat(150)} Penicillin.`;
    const { states, starts, vectors } = await embedder.embedContent(text);
    expect(vectors.length).toBeGreaterThan(5);
    expect(starts).toHaveLength(vectors.length);
    expect(states.length).toBeLessThanOrEqual(MAX_STATES * STATE_BYTES);
    expect(states.length).toBeGreaterThan(MAX_STATES * STATE_BYTES * 0.9);
    for (const word of ["Zanzibar", "Penicillin"]) {
      const { states: asked } = await embedder.embedQuery(word);
      expect(Math.max(...nearest(asked.numbers, states))).toBeGreaterThan(0.6);
    }
  });
});

test("a word with 32,000 accents takes no longer than a page of text", async () => {
  const timeOf = async (text: string) => {
    const start = performance.now();
    await embedder.embedContent(text);
    return performance.now() - start;
  };
  const page = await timeOf("The weekly report was filed. ".repeat(200));
  expect(await timeOf(`a${"\u0301".repeat(32_000)}b`)).toBeLessThan(page);
});

describe("the understood share of a query", () => {
  test.each([
    ["What does my daughter not eat?", 1, 1],
    ["Zürich, Straße, naïveté, 2026", 1, 1],
    ["???", 1, 1],
    ["我的女儿对花生过敏", 0, 0],
    ["Чем болеет моя дочь?", 0, 0.3],
    ["娘は何を食べませんか", 0, 0],
    ["🎉", 0, 0],
    ["what is 过敏", 0.4, 0.6],
  ])("%s", async (question, least, most) => {
    const { understood } = await embedder.embedQuery(question);
    expect(understood).toBeGreaterThanOrEqual(least);
    expect(understood).toBeLessThanOrEqual(most);
  });
});
