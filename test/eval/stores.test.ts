import { expect, test } from "bun:test";
import { CATEGORIES, parseStores, readStores } from "./stores.ts";

const stores = await readStores();

test("every store has memories and questions of several kinds", () => {
  expect(stores.length).toBeGreaterThan(300);
  const weak = stores.filter(({ memories, questions }) => {
    const kinds = new Set(questions.map(({ category }) => category));
    return memories.length < 8 || questions.length < 8 || kinds.size < 4;
  });
  expect(weak.map(({ file, title }) => `${file}: ${title}`)).toEqual([]);
  const used = new Set(stores.flatMap(({ questions }) => questions.map((one) => one.category)));
  expect([...used].sort()).toEqual([...CATEGORIES].sort());
});

test("no two stores have a title or a question in common", () => {
  const titles = stores.map(({ title }) => title.toLowerCase());
  const questions = stores.flatMap((store) => [
    ...new Set(store.questions.map(({ question }) => question.toLowerCase())),
  ]);
  const twice = (texts: string[]) => texts.filter((text, at) => texts.indexOf(text) !== at);
  expect(twice(titles)).toEqual([]);
  expect(twice(questions)).toEqual([]);
});

test.each([
  ["1 2025-01-01: before a store", "a store begins with =="],
  ["== A | chat | en\n? 1 words: asked before it was said", "no memory 1"],
  ["== A | chat | en\n1 2025-01-01: said\n? - words: which?", "none has no evidence"],
  ["== A | chat | en\n1 2025-01-01: said\n? 1 guess: which?", "no category guess"],
  ["== A | chat | en\n1 2025-01-01: said\n1 2025-01-02: again", "1 comes twice"],
  ["== A | chat | en\n1 2025-13-01: said", "neither memory nor question"],
])("a wrong line is named: %p", (text, why) => {
  expect(() => parseStores("a.txt", text)).toThrow(why);
});
