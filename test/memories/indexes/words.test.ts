import { describe, expect, test } from "bun:test";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { createWordIndex } from "../../../src/memories/indexes/words.ts";
import { createSentences } from "../../bench/sentences.ts";

describe("the words of a text", () => {
  test.each([
    ["The gardeners were watering ORCHIDS.", ["garden", "water", "orchid"]],
    ["ERR_SOCKET_7741 in src/net/retry.ts", ["err", "socket", "7741", "src", "net", "retri", "ts"]],
    ["Crème brûlée, straße & smørrebrød", ["creme", "brulee", "strasse", "smorrebrod"]],
    ["备份密码", ["备份", "密码"]],
    ["menu 2022, arguing skies", ["menu", "2022", "argu", "sky"]],
    ["v2版本", ["v2", "版本"]],
    [`${"x".repeat(39)} ${"x".repeat(40)}`, ["x".repeat(39)]],
    ["you and I, or does it?! 🙂", []],
  ])("%s", (text, tokens) => {
    expect(tokensOf(text)).toEqual(tokens);
    // Known by now.
    expect(tokensOf(text)).toEqual(tokens);
  });
});

const all = { count: 10, accepts: null };

describe("an index of words", () => {
  test("finds what has more of the rarer words first, and nothing else", () => {
    const index = createWordIndex();
    index.put(0, "apples and pears");
    index.put(1, "apples, apples and apples");
    index.put(2, "plums");
    const found = () => [...index.matching("apple or pear", all).keys()];
    expect(found()).toEqual([0, 1]);
    index.remove(0, "apples and pears");
    index.put(0, "plums");
    expect(found()).toEqual([1]);
    index.remove(1, "apples, apples and apples");
    expect(found()).toEqual([]);
    expect(index.matching("plum", { count: 1, accepts: null }).size).toBe(1);
    expect([...index.matching("plum", { count: 5, accepts: (text) => text === 2 }).keys()]).toEqual(
      [2],
    );
  });

  test("scores do not know of texts that were removed, however many", () => {
    const [fresh, used] = [createWordIndex(), createWordIndex()];
    const sentences = createSentences(3);
    const contents = Array.from({ length: 2_000 }, () => sentences.memory().content);
    for (const [text, content] of contents.entries()) fresh.put(text, content);
    const former = contents.map(() => sentences.memory().content);
    for (const [text, content] of former.entries()) used.put(text, content);
    for (const [text, content] of contents.entries()) {
      used.remove(text, former[text] ?? "");
      used.put(text, content);
    }
    for (let text = 0; text < 2_000; text += text % 3 === 0 ? 1 : 2) {
      used.remove(text, contents[text] ?? "");
      fresh.remove(text, contents[text] ?? "");
    }
    for (let turn = 0; turn < 20; turn++) {
      const query = sentences.query();
      const byText = (index: typeof used) =>
        [...index.matching(query, { count: 5_000, accepts: null })].sort(([a], [b]) => a - b);
      const [found, expected] = [byText(used), byText(fresh)];
      expect(found.map(([text]) => text)).toEqual(expected.map(([text]) => text));
      for (const [place, [, bm25]] of found.entries()) {
        expect(bm25).toBeCloseTo(expected[place]?.[1] ?? 0, 4);
      }
    }
  });

  test("takes no memory for what was removed", () => {
    const index = createWordIndex();
    const sentences = createSentences(4);
    const contents = Array.from({ length: 3_000 }, () => sentences.memory().content);
    for (const [text, content] of contents.entries()) index.put(text, content);
    const { bytes } = index;
    for (const [text, content] of contents.entries()) index.remove(text, content);
    expect(bytes).toBeGreaterThan(100_000);
    expect(index.bytes).toBeLessThan(20_000);
    expect(index.matching(contents[0] ?? "", all).size).toBe(0);
  });

  test("a part of a larger collection has the scores that the whole would give it", () => {
    const [whole, part] = [createWordIndex(), createWordIndex()];
    const contents = ["apple pear", "apple plum", "pear plum", "plum quince", "quince fig"];
    for (const [text, content] of contents.entries()) {
      whole.put(text, content);
      if (text < 2) part.put(text, content);
    }
    const textsWith = new Map([
      ["appl", 2],
      ["pear", 2],
    ]);
    const found = part.matching("apple pear", { ...all, corpus: { texts: 5, textsWith } });
    const expected = whole.matching("apple pear", all);
    expect([...found]).toEqual([...expected].filter(([text]) => text < 2));
    expect(found.get(0)).not.toBe(part.matching("apple pear", all).get(0));
  });
});
