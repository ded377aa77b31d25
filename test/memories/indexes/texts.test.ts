import { expect, test } from "bun:test";
import { createTexts } from "../../../src/memories/indexes/texts.ts";
import { createRandom } from "../../support/random.ts";

const random = createRandom(4);
const LETTERS = ["a", "é", "ÿ", "Ā", "茶", "🙂", "\ud800", "\0"];

function textOf(): string {
  const length = random.below(20) === 0 ? random.below(40_000) : random.below(300);
  const letters = LETTERS.slice(0, 1 + random.below(LETTERS.length));
  return Array.from({ length }, () => random.pick(letters)).join("");
}

test("texts of all letters and lengths come out as they went in, while others come and go", () => {
  const stores = [createTexts(), createTexts()];
  const models = stores.map(() => new Map<number, string>());
  for (let turn = 0; turn < 4_000; turn++) {
    const which = random.below(2);
    const [texts, model] = [stores[which], models[which]];
    const number = random.below(200);
    if (model?.has(number)) texts?.remove(number);
    model?.delete(number);
    if (random.below(4) === 0) continue;
    const text = textOf();
    texts?.put(number, text);
    model?.set(number, text);
  }
  for (const [which, texts] of stores.entries()) {
    for (let number = 0; number < 200; number++) {
      expect(texts.get(number)).toBe(models[which]?.get(number) ?? "");
    }
  }
  stores[0]?.close();
  expect(stores[0]?.get(1)).toBe("");
  stores[0]?.put(1, "again");
  expect(stores[0]?.get(1)).toBe("again");
  for (const [number, text] of models[1] ?? []) expect(stores[1]?.get(number)).toBe(text);
});

test("room of texts that are gone is used again", () => {
  const texts = createTexts();
  for (let number = 0; number < 3_000; number++) texts.put(number, "x".repeat(number % 900));
  const { bytes } = texts;
  for (let round = 0; round < 5; round++) {
    for (let number = 0; number < 3_000; number++) texts.remove(number);
    for (let number = 0; number < 3_000; number++) texts.put(number, "é".repeat(number % 900));
  }
  expect(texts.bytes).toBe(bytes);
  texts.put(5_000, "x".repeat(30_000));
  texts.remove(5_000);
  expect(texts.bytes).toBeLessThan(bytes + 30_000);
});
