import { describe, expect, test } from "bun:test";
import { createNearWords, nearness } from "../../../src/memories/indexes/near-words.ts";
import { createRandom } from "../../support/random.ts";

describe("a word that no text has stands for", () => {
  test.each([
    ["kubernts", "kubernetes", 0.4],
    ["kuberntes", "kubernetes", 0.6],
    ["kubrenetes", "kubernetes", 0.6],
    ["reciev", "receiv", 0.6],
    ["plumb", "plumbs", 0.6],
    ["erklarung", "steuererklarung", 0.5],
    ["steuererklarung", "erklarung", 0.5],
    ["steuer", "steuererklarung", 0.5],
  ])("%s: %s, for %d", (asked, word, counts) => {
    expect(nearness(asked, word)).toBe(counts);
  });

  test.each([
    ["three letters are too few to be misspelt", "cat", "car"],
    ["seven letters may have one wrong", "kitchen", "kittens"],
    ["the first letter is right", "kitchen", "mitchen"],
    ["a number is not misspelt", "port7741", "port7742"],
    ["a short end makes no compound", "tur", "haustur"],
    ["letters in the middle make none", "erklar", "steuererklarung"],
  ])("nothing else: %s", (_, asked, word) => {
    expect(nearness(asked, word)).toBe(0);
  });
});

test("an index finds all words near to one, as they come and go", () => {
  const random = createRandom(7);
  const letters = ["a", "b", "c", "n", "s"];
  const wordOf = () =>
    Array.from({ length: 4 + random.below(7) }, () => random.pick(letters)).join("");
  const words = new Set(Array.from({ length: 500 }, wordOf));
  const near = createNearWords(words);
  let found = 0;
  for (let turn = 0; turn < 200; turn++) {
    const asked = wordOf();
    const all = [...words].map((word) => nearness(asked, word)).filter((counts) => counts > 0);
    const best = all.sort((a, b) => b - a).slice(0, 8);
    const answer = near.to(asked);
    for (const [word, counts] of answer) {
      expect(words).toContain(word);
      expect(counts).toBe(nearness(asked, word));
    }
    expect([...answer.values()]).toEqual(best);
    found += best.length;
    for (const word of [...words].slice(0, 5)) words.delete(word);
    for (let count = 0; count < 5; count++) {
      const word = wordOf();
      if (words.has(word)) continue;
      words.add(word);
      near.add(word);
    }
  }
  // What went takes its memory with it, also where it comes again and again.
  for (let turn = 0; turn < 5_000; turn++) near.add("again");
  expect(near.bytes).toBeLessThan(3 * 17 * words.size);
  expect(found).toBeGreaterThan(40);
});
