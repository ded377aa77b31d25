import { expect, test } from "bun:test";
import { SIGNALS } from "../../src/memories/ranking/signals/signals.ts";
import { createRandom } from "../support/random.ts";
import type { Example } from "./training/examples.ts";
import { calibrate, fit } from "./training/fit.ts";
import { crossValidate, lessonsOf } from "./training/validate.ts";

const random = createRandom(5);
const COLUMNS = SIGNALS.length;

/** Questions whose answers have more of the first signal, less of the second, and of others by chance. */
function examples(count: number): Example[] {
  return Array.from({ length: count }, () => {
    const answers = Uint8Array.from({ length: 20 }, (_, at) => (at % 10 === 0 ? 1 : 0));
    const signals = new Float64Array(answers.length * COLUMNS).map(random.next);
    for (const [at, answer] of answers.entries()) {
      const [first = 0, second = 0] = signals.subarray(at * COLUMNS);
      signals.set([first + 0.7 * answer, second - 0.3 * answer], at * COLUMNS);
    }
    return { signals, answers, wanted: 2 };
  });
}

test("a signal counts as much as it tells the memories that answer from the others", () => {
  const lesson = { examples: examples(300), weight: 300 };
  const [first = 0, second = 0, ...others] = fit([lesson], COLUMNS, 1);
  expect(first).toBeGreaterThan(2);
  expect(second).toBeLessThan(-1);
  expect(-second).toBeLessThan(first);
  for (const other of others) expect(Math.abs(other)).toBeLessThan(1);
});

test("few examples teach little", () => {
  const [first = 0] = fit([{ examples: examples(3), weight: 3 }], COLUMNS, 300);
  expect(Math.abs(first)).toBeLessThan(0.1);
});

test("sums become chances: of what is never answered the chance is small", () => {
  const weights = Float64Array.from({ length: COLUMNS }, (_, at) => (at < 1 ? 1 : 0));
  const best = (sum: number, answer: number): Example => {
    const signals = new Float64Array(COLUMNS);
    signals[0] = sum;
    return { signals, answers: Uint8Array.of(answer), wanted: answer };
  };
  const answered = Array.from({ length: 90 }, (_, at) => best(2 + at / 90, at % 10 === 0 ? 0 : 1));
  const foreign = Array.from({ length: 90 }, (_, at) => best(at / 90, at % 10 === 0 ? 1 : 0));
  const [factor, start] = calibrate(
    [{ examples: [...answered, ...foreign], weight: 180 }],
    weights,
  );
  const chance = (sum: number) => 1 / (1 + Math.exp(-(factor * sum + start)));
  expect(chance(2.5)).toBeWithin(0.8, 0.97);
  expect(chance(0.5)).toBeWithin(0.03, 0.2);
});

test("files are measured by what was learned from the others", () => {
  const learnable = ["a", "b"].map((name) => ({ group: "g", name, examples: examples(80) }));
  const upside = examples(80).map((example) => ({
    ...example,
    answers: example.answers.map((answer) => 1 - answer),
    wanted: 18,
  }));
  const recall = (files: typeof learnable) => crossValidate(files, 1).get("g")?.recall[2] ?? 0;
  expect(recall(learnable)).toBeGreaterThan(0.85);
  // A file that the other contradicts can't be learned from it.
  const contrary = [...learnable.slice(0, 1), { group: "g", name: "b", examples: upside }];
  expect(crossValidate(contrary, 1).get("g")?.reciprocalRank).toBeLessThan(0.9);
  expect(lessonsOf(learnable)).toHaveLength(1);
});
