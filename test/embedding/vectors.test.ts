import { beforeAll, describe, expect, test } from "bun:test";
import { builtInModel } from "../../src/embedding/manifest.ts";
import { cosine } from "../support/cosine.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { openModelGraph } from "../support/model-graph.ts";

// Compares the vectors with those of ONNX Runtime for the same tokens without fastembed.
const embedder = sharedEmbedder();
let reference: (text: string) => Promise<Float32Array>;

beforeAll(async () => {
  await embedder.ready();
  const { tokenizer, statesOf } = await openModelGraph();
  reference = async (text) => {
    const states = await statesOf((await tokenizer.encode(text)).getIds());
    const first = states.subarray(0, builtInModel.dimension);
    const length = Math.hypot(...first);
    return first.map((value) => value / length);
  };
});

const WORDS =
  "the planner moved our meeting from Tuesday to Friday because every deploy was frozen".split(" ");

function words(count: number): string {
  return Array.from({ length: count }, (_, index) => WORDS[(index * 5) % WORDS.length]).join(" ");
}

const TEXTS: Record<string, string> = {
  "1 word": words(1),
  "2 words": words(2),
  "10 words": words(10),
  "100 words": words(100),
  "400 words": words(400),
  emoji: "🎉 party at 8 👩‍👩‍👧‍👦 🇫🇷",
  Chinese: "我的女儿对花生过敏，请不要给她吃。",
  mixed: "Ünïcode naïve café, Straße, 한국어 and العربية",
  "combining marks alone": "\u0301\u0302\u0303",
  "a lone surrogate": "before \ud83d after",
  NUL: "one\0two",
  "white space": "   ",
  "a zero-width space": "\u200b",
  "a full stop": ".",
  "the model's own tokens": "[SEP] [CLS] [PAD] [MASK]",
};

describe("vectors equal those of the model itself", () => {
  for (const [name, text] of Object.entries(TEXTS)) {
    test(name, async () => {
      const [vector, ...more] = (await embedder.embedContent(text)).vectors;
      const expected = await reference(text);
      expect(more).toEqual([]);
      expect(cosine(vector ?? new Float32Array(), expected)).toBeGreaterThanOrEqual(0.9999);
      expect(cosine((await embedder.embedQuery(text)).vector, expected)).toBeGreaterThanOrEqual(
        0.9999,
      );
    });
  }

  test("1,000 words: a query is truncated to the window, a content is not", async () => {
    const text = words(1_000);
    const { vectors: passages } = await embedder.embedContent(text);
    expect(passages.length).toBeGreaterThan(3);
    for (const vector of passages) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    // Each word is one token, so 510 of them fit the window.
    const { vector } = await embedder.embedQuery(text);
    expect(cosine(vector, await reference(words(510)))).toBeGreaterThan(0.9999);
  });
});

test("the vector of a text does not depend on other texts", async () => {
  const text = "My daughter is allergic to peanuts.";
  const alone = await embedder.embedContent(text);
  const crowd = [1, 3, 30, 300, 900].map((count) => embedder.embedContent(words(count)));
  const copies = Array.from({ length: 5 }, () => embedder.embedContent(text));
  const query = embedder.embedQuery(text);
  await Promise.all(crowd);
  for (const copy of await Promise.all(copies)) expect(copy).toEqual(alone);
  const { vector, states } = await query;
  expect({ vectors: [vector], starts: [0], states: states.numbers }).toEqual(alone);
});
