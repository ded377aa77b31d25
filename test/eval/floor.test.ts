import { afterAll, beforeAll, expect, test } from "bun:test";
import { SEARCH_MODES } from "../../src/memories/ranking/question.ts";
import { startServer } from "../support/server.ts";

import { rememberingEmbedder } from "./cached-embedder.ts";
import { quantile } from "./measures.ts";
import { readFacts } from "./own-sets.ts";
import { type Answered, recallOf } from "./recall.ts";
import { type Line, summarise } from "./report.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);
let answers: Answered[] = [];
let lines: Line[] = [];

beforeAll(async () => {
  answers = await recallOf(server, [await readFacts()], SEARCH_MODES);
  lines = summarise(answers);
}, 120_000);

const overall = (mode: string) => {
  const line = lines.find((one) => one.mode === mode && one.category === "all");
  if (!line) throw new Error(`nothing was measured for ${mode}`);
  return line;
};

// Measured 0.806 / 0.951 / 0.986, 0.792 / 0.927 / 0.958 and 0.743 / 0.882 / 0.896.
test.each([
  ["hybrid", { 1: 0.78, 5: 0.93, 10: 0.97 }],
  ["semantic", { 1: 0.76, 5: 0.9, 10: 0.94 }],
  ["keyword", { 1: 0.71, 5: 0.85, 10: 0.87 }],
])("%s search finds as much of our own set as it did", (mode, floor) => {
  const { recall } = overall(mode);
  for (const [depth, least] of Object.entries(floor)) {
    expect({ depth, recall: recall[depth] }).toEqual({ depth, recall: expect.any(Number) });
    expect(recall[depth]).toBeGreaterThanOrEqual(least);
  }
});

test.each(["german", "chinese", "date", "error", "path", "identifier"])(
  "every memory that answers a question of the kind %s is among the first five",
  (category) => {
    const line = lines.find((one) => one.mode === "hybrid" && one.category === category);
    expect(line?.recall[5]).toBe(1);
  },
);

test("scores tell an answer from none: half of the answers have more than any other has", () => {
  const scores = (isAnswer: boolean) =>
    answers
      .filter(({ mode, measures }) => mode === "hybrid" && (measures !== null) === isAnswer)
      .map(({ bestScore }) => bestScore);
  expect(quantile(scores(true), 0.5)).toBeGreaterThan(1.2 * Math.max(...scores(false)));
});
