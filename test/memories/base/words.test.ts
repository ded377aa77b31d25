import { expect, test } from "bun:test";
import { holdBase } from "../../../src/memories/base/base.ts";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { createWordIndex } from "../../../src/memories/indexes/words.ts";
import { createPending } from "../../../src/memories/log/pending.ts";
import { createStoredReader } from "../../../src/memories/table/stored-reader.ts";
import { createView } from "../../../src/memories/view/view.ts";
import { createSentences } from "../../bench/sentences.ts";
import { changesOf, model, storedMemory, testBases } from "../../support/bases.ts";

const sentences = createSentences(1);
const CONTENTS = [
  ...Array.from({ length: 400 }, () => sentences.memory().content),
  "Crème brûlée, straße & smørrebrød",
  "服务器的备份密码保存在保险柜里。",
  "用户喜欢喝乌龙茶。",
  "Der Kellerschlüssel hängt hinter der Küchentür.",
  "Die Steuererklärung muss bis Juli abgegeben werden.",
  "ERR_SOCKET_7741 comes when the proxy closes the connection, and the proxy does.",
  "हिन्दी भाषा सीखना, ภาษาไทย, 한국어를 배운다, menu 4711 of the universe, arguing generously",
  "Çay içmeyi sever. かばんの中に鍵があります。",
  "Whose is it? It's what they themselves would do through themselves.",
  "getUserById in src/app/user_store.ts of v2.3.1 reads 550e8400-e29b-41d4-a716-446655440000",
  "Signs that are nothing, or several words, without their marks: \u05b0 \u0483 \u037a \ufdfa",
  "The Kubernetes cluster runs in Frankfurt.",
  `${"0123456789abcdef".repeat(4)} is its hash`,
];
const QUESTIONS = [
  ...Array.from({ length: 60 }, sentences.query),
  ...["备份密码在哪里", "喝茶", "Wo hängt der Kellerschlüssel?", "the proxy closes a proxy"],
  ...["Cay içmek", "鍵はどこですか", "does it?", "हिन्दी भाषा", "ไทย", "한국어를"],
  ...[
    "\u05b1",
    "\u037a \u0484",
    "\ufdfa",
    "4711 menu",
    "generous",
    "Crème brûlée",
    "what would they do through whose",
    "it's",
  ],
  ...[
    "userStore",
    "user",
    "v2.3.1",
    "550e8400e29b41d4a716446655440000",
    "0123456789abcdef".repeat(4),
  ],
];
/** With words that no memory has. */
const UNKNOWN = [
  ...[
    "Kuberntes",
    "Kubrenets cluster",
    "Schlüssel",
    "Erklärung",
    "Steuererklärungen",
    "Frankfurter",
  ],
  ...["nowhere at all", "4712", "zzzz", "conection of a soket"],
];

async function fill() {
  const memories = await Promise.all(
    CONTENTS.map((content, number) => storedMemory(number, { content })),
  );
  const bases = await testBases();
  const options = { upTo: 1, model };
  // The last few are in the log.
  const inBase = memories.slice(0, -3);
  const all = await bases.open(await bases.rewrite("all", null, changesOf(memories), options));
  const most = await bases.open(await bases.rewrite("most", null, changesOf(inBase), options));
  for (const base of [all, most]) await bases.index(base, false);
  return { memories, all, most, rest: memories.slice(-3) };
}

test("a base has the words of a text that the view has", async () => {
  const { memories, all } = await fill();
  const index = createWordIndex();
  for (const [number, { content }] of memories.entries()) index.put(number, content);

  for (const words of QUESTIONS) {
    const tokens = tokensOf(words);
    const question = { vector: null, words: tokens, filter: {}, limit: 1_000, except: [] };
    const found = (await all.search(question)).map(({ content }) => content);
    // A word that no memory has stands for others: the base is asked for these by its reader.
    const corpus = { texts: memories.length, textsWith: new Map(), nearWords: new Map() };
    const terms = index.terms(words, corpus);
    const matching = index.matching(terms, { count: 1_000, accepts: null });
    const expected = matching.map((number) => CONTENTS[number] ?? "");
    expect({ words, found: found.sort() }).toEqual({ words, found: expected.sort() });
  }

  const tokens = CONTENTS.map((content) => new Set(tokensOf(content)));
  for (const words of QUESTIONS) {
    const counts = tokensOf(words).map(
      (word) => [word, tokens.filter((each) => each.has(word)).length] as const,
    );
    const counted = await all.countTexts(tokensOf(words));
    expect(Object.fromEntries(counted)).toEqual(Object.fromEntries(counts));
  }
});

test("words find the same whether a table is in memory or not, misspelt ones too", async () => {
  const { memories, most, rest } = await fill();
  const view = createView(model.dimension);
  for (const memory of memories) view.put(memory);
  const pending = createPending();
  pending.note(2, { written: rest, removed: [], leavesOldData: false });
  const stored = createStoredReader({
    ...{ base: holdBase(most), pending, dimension: model.dimension },
    state: { usage: { memories: memories.length, bytes: 0 }, changes: 0 },
  });
  let matched = 0;
  for (const words of [...QUESTIONS, ...UNKNOWN]) {
    const question = { vector: null, words, filter: {}, limit: 1_000, least: 1 };
    const idsOf = (found: Awaited<ReturnType<typeof stored.candidates>>) =>
      found.candidates.map(({ memory }) => memory.id).sort();
    const expected = view.candidates(question);
    const found = await stored.candidates(question);
    expect({ words, found: idsOf(found) }).toEqual({ words, found: idsOf(expected) });
    if (UNKNOWN.includes(words)) matched += expected.candidates.length;
  }
  expect(matched).toBeGreaterThan(5);
  view.close();
});
