import { expect, test } from "bun:test";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { createWordIndex } from "../../../src/memories/indexes/words.ts";
import { createSentences } from "../../bench/sentences.ts";
import { changesOf, model, storedMemory, testBases } from "../../support/bases.ts";

const sentences = createSentences(1);
const CONTENTS = [
  ...Array.from({ length: 400 }, () => sentences.memory().content),
  "Crème brûlée, straße & smørrebrød",
  "服务器的备份密码保存在保险柜里。",
  "用户喜欢喝乌龙茶。",
  "Der Kellerschlüssel hängt hinter der Küchentür.",
  "ERR_SOCKET_7741 comes when the proxy closes the connection, and the proxy does.",
  "हिन्दी भाषा सीखना, ภาษาไทย, 한국어를 배운다, menu 4711 of the universe, arguing generously",
  "Çay içmeyi sever. かばんの中に鍵があります。",
  "Whose is it? It's what they themselves would do through themselves.",
];
const QUESTIONS = [
  ...Array.from({ length: 60 }, sentences.query),
  ...["备份密码在哪里", "喝茶", "Wo hängt der Kellerschlüssel?", "the proxy closes a proxy"],
  ...["Cay içmek", "鍵はどこですか", "does it?", "हिन्दी भाषा", "ไทย", "한국어를"],
  ...["4711 menu", "generous", "Crème brûlée", "what would they do through whose", "it's"],
];

test("a base has the words of a text that the view has", async () => {
  const memories = await Promise.all(
    CONTENTS.map((content, number) => storedMemory(number, { content })),
  );
  const bases = await testBases();
  const options = { upTo: 1, model };
  const base = await bases.open(await bases.rewrite("acc", null, changesOf(memories), options));
  await bases.index(base, false);
  const index = createWordIndex();
  for (const [number, { content }] of memories.entries()) index.put(number, content);

  for (const words of QUESTIONS) {
    const question = { vector: null, words, filter: {}, limit: 1_000, except: [] };
    const found = (await base.search(question)).map(({ content }) => content);
    const matching = [...index.matching(words, { count: 1_000, accepts: null }).keys()];
    const expected = matching.map((number) => CONTENTS[number] ?? "");
    expect({ words, found: found.sort() }).toEqual({ words, found: expected.sort() });
  }

  const tokens = CONTENTS.map((content) => new Set(tokensOf(content)));
  for (const words of QUESTIONS) {
    const counts = tokensOf(words).map(
      (word) => [word, tokens.filter((each) => each.has(word)).length] as const,
    );
    expect(Object.fromEntries(await base.countTexts(words))).toEqual(Object.fromEntries(counts));
  }
});
