import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Tokenizer } from "@anush008/tokenizers";
import { builtInModel, prepareModel } from "../../src/embedding/manifest.ts";
import { firstPassage, splitPassages } from "../../src/embedding/passages.ts";
import { cosine } from "../support/cosine.ts";
import { temporaryFolder } from "../support/database.ts";
import { sharedEmbedder, testCacheDir } from "../support/embedder.ts";
import { writeUnigramTokenizer } from "../support/unigram-tokenizer.ts";

const limits = { window: builtInModel.window - 2, ...builtInModel.passage };
let tokenizer: Tokenizer;

beforeAll(async () => {
  const folder = await prepareModel({ cacheDir: testCacheDir });
  tokenizer = Tokenizer.fromFile(join(folder, "tokenizer.json"));
});

const encode = (text: string) => tokenizer.encode(text, null, { addSpecialTokens: false });
const count = async (text: string) => (await encode(text)).getLength();
const cut = async (text: string) => splitPassages(text, await encode(text), limits);
const split = async (text: string) => (await cut(text)).map((passage) => passage.text);

const MOST = 32_768;
const fill = (unit: string) => unit.repeat(Math.ceil(MOST / unit.length)).slice(0, MOST);
const ADVERSARIAL: Record<string, string> = {
  prose: fill("The quick brown fox jumps over the lazy dog. It is tired! Is it? "),
  "no spaces": fill("x"),
  "words of 100 characters": fill(`${"zq".repeat(50)} `),
  punctuation: fill("!"),
  emoji: fill("😀"),
  "emoji with spaces": fill("😀 "),
  Chinese: fill("中文句子。"),
  Hangul: fill("한국어 "),
  NULs: fill("\0"),
  "NULs between words": fill("a\0 b"),
  "white space and one character": `${" ".repeat(MOST - 1)}x`,
  "one character and white space": `x${"\n".repeat(MOST - 1)}`,
  "lone combining marks": fill("\u0301 "),
  "letters with marks": fill("e\u0301\u0302 "),
  "lone surrogates": fill("\ud83d "),
  "right to left": fill("שלום עולם "),
};

describe("passages of 32,768 characters", () => {
  for (const [name, text] of Object.entries(ADVERSARIAL)) {
    test(name, async () => {
      for (const { start, text: part } of await cut(text)) {
        expect(text.startsWith(part, start)).toBe(true);
      }
      const passages = await split(text);
      // Each has at most the allowed tokens, and together they cover the text.
      let covered = 0;
      for (const passage of passages) {
        const most = passages.length === 1 ? limits.window : limits.tokens;
        expect(await count(passage)).toBeLessThanOrEqual(most);
        const start = passages.length === 1 ? 0 : text.lastIndexOf(passage, covered);
        expect(start).toBeGreaterThanOrEqual(0);
        covered = Math.max(covered, start + passage.length);
      }
      expect(passages.at(0)).toBe(text.slice(0, passages[0]?.length));
      expect(text.endsWith(passages.at(-1) ?? "?")).toBe(true);
      expect(await split(text)).toEqual(passages);
      expect(
        await count(firstPassage(text, await encode(text), limits.window)),
      ).toBeLessThanOrEqual(limits.window);
    });
  }
});

test("a text without spaces that the model takes for one word is split at its tokens", async () => {
  const folder = temporaryFolder();
  writeUnigramTokenizer(folder);
  const unigram = Tokenizer.fromFile(join(folder, "tokenizer.json"));
  const encode = (text: string) => unigram.encode(text, null, { addSpecialTokens: false });
  for (const sentence of ["猫叫咪咪在哪里的。", "备😀份\ufdfa"]) {
    const text = sentence.repeat(300);
    const passages = splitPassages(text, await encode(text), limits);
    expect(passages.length).toBeGreaterThan(5);
    let covered = 0;
    for (const { text: part, start } of passages) {
      expect((await encode(part)).getLength()).toBeLessThanOrEqual(limits.window);
      expect(text.startsWith(part, start)).toBe(true);
      expect(part.isWellFormed()).toBe(true);
      expect(start).toBeLessThanOrEqual(covered);
      expect(start + part.length).toBeGreaterThan(covered);
      covered = start + part.length;
      if (sentence.endsWith("。")) expect(part).toEndWith("。");
    }
    expect(covered).toBe(text.length);
    const first = firstPassage(text, await encode(text), limits.window);
    expect((await encode(first)).getLength()).toBeLessThanOrEqual(limits.window);
    expect(first.length).toBeGreaterThan(80);
  }
});

test("a text that just fits the window is one passage, with one more word it is several", async () => {
  const fits = Array.from({ length: limits.window }, () => "word").join(" ");
  expect(await split(fits)).toEqual([fits]);
  expect((await split(`${fits} more`)).length).toBeGreaterThan(1);
});

test("passages overlap, and end with a sentence if one ends nearby", async () => {
  const sentence = "Here is a sentence that says nothing of interest to anyone at all. ";
  const passages = await split(sentence.repeat(100));
  for (const passage of passages) expect(passage).toEndWith(". ");
  const [first = "", second = ""] = passages;
  expect(await count(first)).toBeGreaterThan(limits.tokens * 0.75);
  expect(first).toContain(second.slice(0, sentence.length));
  expect(passages.join("").length).toBeLessThan(sentence.length * 100 * 1.25);
});

test("the last sentence of 30,000 characters is in a passage", async () => {
  const embedder = sharedEmbedder();
  const filler = "The weekly report was filed and nobody had anything to add to it. ";
  const text = `${filler.repeat(460).slice(0, 30_000)} My daughter is allergic to peanuts.`;
  const [{ vector: query }, { vectors: passages }] = await Promise.all([
    embedder.embedQuery("what food must the child avoid"),
    embedder.embedContent(text),
  ]);
  const cosines = passages.map((passage) => cosine(passage, query));
  const last = cosines.pop() ?? 0;
  expect(last).toBeGreaterThan(Math.max(...cosines) + 0.05);
});
