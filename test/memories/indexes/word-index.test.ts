import { describe, expect, test } from "bun:test";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { createWordIndex } from "../../../src/memories/indexes/word-index.ts";
import { createRowCache } from "../../../src/memories/row-cache.ts";
import type { StoredMemory } from "../../../src/memories/rows.ts";
import { openTable } from "../../../src/memories/table.ts";
import { loadLanceDb } from "../../../src/native/lancedb.ts";
import { createSentences } from "../../bench/sentences.ts";
import { temporaryFolder } from "../../support/database.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { fakeEmbedder } from "../../support/fake-embedder.ts";

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
  });
});

describe("an index of words", () => {
  test("finds what has more of the rarer words first, and nothing else", () => {
    const index = createWordIndex();
    index.put("a", "apples and pears");
    index.put("b", "apples, apples and apples");
    index.put("c", "plums");
    const found = () => index.matching("apple or pear", 10).map(({ id }) => id);
    expect(found()).toEqual(["a", "b"]);
    index.put("a", "plums");
    expect(found()).toEqual(["b"]);
    index.remove("b");
    expect(found()).toEqual([]);
    expect(index.matching("plum", 1)).toHaveLength(1);
    index.clear();
    expect([index.words, index.matching("plum", 1)]).toEqual([0, []]);
  });

  test("scores do not know of texts that were removed, however many", () => {
    const [fresh, used] = [createWordIndex(), createWordIndex()];
    const sentences = createSentences(3);
    for (let id = 0; id < 3_000; id++) {
      const { content } = sentences.memory();
      used.put(`${id % 2_000}`, sentences.memory().content);
      used.put(`${id % 2_000}`, content);
      if (id >= 1_000) fresh.put(`${id % 2_000}`, content);
    }
    for (let id = 0; id < 2_000; id += 5) {
      used.remove(`${id}`);
      fresh.remove(`${id}`);
    }
    for (let turn = 0; turn < 20; turn++) {
      const query = sentences.query();
      const byId = (index: typeof used) =>
        Object.fromEntries(index.matching(query, 5_000).map(({ id, bm25 }) => [id, bm25]));
      expect(byId(used)).toEqual(byId(fresh));
    }
    expect(used.words).toBe(fresh.words);
  });
});

test("what is found in memory is what LanceDB finds, with the same scores", async () => {
  const embedder = fakeEmbedder();
  const lancedb = await loadLanceDb(testCacheDir);
  const connection = await lancedb.connect(temporaryFolder());
  const table = await openTable(lancedb, connection, "t", embedder.model, createRowCache(0));
  const index = createWordIndex();
  const sentences = createSentences(1);
  const contents = [
    ...Array.from({ length: 400 }, () => sentences.memory().content),
    "Crème brûlée, straße & smørrebrød",
    "服务器的备份密码保存在保险柜里。",
    "用户喜欢喝乌龙茶。",
    "Der Kellerschlüssel hängt hinter der Küchentür.",
    "ERR_SOCKET_7741 comes when the proxy closes the connection, and the proxy does.",
    "हिन्दी भाषा सीखना, ภาษาไทย, 한국어를 배운다, menu 4711 of the universe, arguing generously",
    "Çay içmeyi sever. かばんの中に鍵があります。",
  ];
  const memories = contents.map(
    (content, index): StoredMemory => ({
      ...{ id: `id ${index}`, content, tags: [], agentId: null, sessionId: null, importance: 0.5 },
      ...{ metadata: "{}", createdAt: index, updatedAt: index },
      vectors: [new Float32Array(embedder.model.dimension)],
    }),
  );
  await table.write(table.encode(memories), { written: memories, isNew: true, removed: [] });
  await table.upkeep.rebuildIndexes();
  for (const { id, content } of memories) index.put(id, content);

  const questions = Array.from({ length: 60 }, sentences.query);
  questions.push(
    "备份密码在哪里",
    "喝茶",
    "Wo hängt der Kellerschlüssel?",
    "the proxy closes a proxy",
  );
  questions.push("Cay içmek", "鍵はどこですか", "does it?", "हिन्दी भाषा", "ไทย", "한국어를");
  questions.push("4711 menu", "generous", "Crème brûlée");
  const byId = (found: readonly { id: string; bm25: number }[]) =>
    Object.fromEntries(found.map(({ id, bm25 }) => [id, Number(bm25.toPrecision(4))]));
  for (const question of questions) {
    const [known, inMemory] = [
      await table.matching(question, {}, 1_000, false),
      index.matching(question, 1_000),
    ];
    expect({ question, found: byId(inMemory) }).toEqual({ question, found: byId(known) });
  }
});
