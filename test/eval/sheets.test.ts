import { expect, test } from "bun:test";
import { readSheetAnswers, readSheetPairs, readSheets } from "./sheets.ts";

const halves = ["dev", "held"] as const;

test("both halves have sheets, of which each attribute has sentences of all kinds", async () => {
  const [dev, held] = await Promise.all(halves.map((half) => readSheets(half)));
  expect(dev?.length).toBeGreaterThan(80);
  expect(held?.length).toBeGreaterThan(10);
  for (const { subjects, attributes } of [...(dev ?? []), ...(held ?? [])]) {
    expect(subjects.length).toBeGreaterThanOrEqual(10);
    expect(new Set(subjects.map(([form]) => form)).size).toBe(subjects.length);
    for (const { values, same, changes, ends, questions } of attributes) {
      expect(new Set(values).size).toBe(values.length);
      expect(values.length).toBeGreaterThan(5);
      for (const shapes of [same, changes, ends, questions]) {
        expect(shapes.length).toBeGreaterThan(0);
        expect(shapes.filter((shape) => !/\{[sd]\}/.test(shape))).toEqual([]);
      }
      expect([...same, ...changes].filter((shape) => !shape.includes("{v}"))).toEqual([]);
      expect(questions.filter((shape) => /\{[vo]\}/.test(shape))).toEqual([]);
    }
  }
});

test("the sentences of pairs have no slots left, and no pair compares a text with itself", async () => {
  for (const half of halves) {
    const pairs = await readSheetPairs(half);
    const answers = await readSheetAnswers(half);
    const texts = [
      ...pairs.map(({ earlier, later }) => [earlier, later] as const),
      ...answers.map(({ question, memory }) => [question, memory] as const),
    ];
    expect(texts.length).toBeGreaterThan(10_000);
    expect(texts.flat().filter((text) => text === "" || /[{}]/.test(text))).toEqual([]);
    expect(pairs.filter(({ earlier, later }) => earlier === later)).toEqual([]);
    for (const kind of ["same", "changed", "other"] as const) {
      expect(pairs.filter((pair) => pair.kind === kind).length).toBeGreaterThan(pairs.length / 10);
    }
  }
});

test("no sheet of one half shares a sentence with the other", async () => {
  const [dev, held] = await Promise.all(
    halves.map(async (half) => {
      const sheets = await readSheets(half);
      const shapes = sheets.flatMap(({ attributes }) =>
        attributes.flatMap(({ same, changes, ends, questions }) => [
          ...same,
          ...changes,
          ...ends,
          ...questions,
        ]),
      );
      return new Set(shapes.filter((shape) => shape.length > 25));
    }),
  );
  expect([...(dev ?? [])].filter((shape) => held?.has(shape))).toEqual([]);
});
