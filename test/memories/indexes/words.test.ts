import { describe, expect, test } from "bun:test";
import type { Accepts } from "../../../src/memories/indexes/largest.ts";
import { askedWords, tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { createWordIndex } from "../../../src/memories/indexes/words.ts";
import { createSentences } from "../../bench/sentences.ts";
import { bm25Of } from "../../support/bm25.ts";

describe("the words of a text", () => {
  test.each([
    ["The gardeners were watering ORCHIDS.", ["garden", "water", "orchid"]],
    [
      "ERR_SOCKET_7741 in src/net/retry.ts",
      ["err", "socket", "7741", "errsocket7741", "src", "net", "retri", "ts", "retryt"],
    ],
    ["Crème brûlée, straße & smørrebrød", ["creme", "brule", "strass", "smorrebrod"]],
    ["备份密码", ["备份", "份密", "密码", "备", "份", "密", "码"]],
    ["menu 2022, arguing skies", ["menu", "2022", "argu", "sky"]],
    ["v2版本", ["v2", "版本", "版", "本"]],
    [`${"x".repeat(79)} ${"x".repeat(80)}`, ["x".repeat(79)]],
    [
      "getUserById and HTMLParser",
      ["getuserbyid", "get", "user", "id", "htmlparser", "html", "parser"],
    ],
    [
      "user_id, userId, user-id",
      ["user", "id", "userid", "userid", "user", "id", "user", "id", "userid"],
    ],
    ["iPhone URLs IPv6 v2.3.1", ["iphon", "phone", "url", "ipv6", "v2", "3", "1", "v231"]],
    ["re\u0301sume\u0301 résumé Ελλάδα ёлка", ["resum", "resum", "ελλαδα", "елка"]],
    ["ＡＢＣ ｶﾒﾗ", ["abc", "カメ", "メラ"]],
    ["我的猫叫咪咪", ["猫叫", "叫咪", "咪咪", "猫", "叫", "咪", "咪"]],
    ["한국어를 차", ["한국", "국어", "어를", "차"]],
    ["鍵はどこですか", ["鍵"]],
    ["狗什么时候散步", ["狗", "散步", "散", "步"]],
    ["ภาษาไทย", ["ภาษา", "ไทย"]],
    ["you and I, or does it?! 🙂", []],
  ])("%s", (text, tokens) => {
    expect(tokensOf(text)).toEqual(tokens);
    // Known by now.
    expect(tokensOf(text)).toEqual(tokens);
  });
});

describe("the words of a question", () => {
  const asked = (question: string) => [...askedWords(question).keys()];

  test.each([
    ["Wie hoch ist das Zeitlimit von der Kasse?", ["hoch", "zeitlimit", "kass"]],
    ["Quel est le port de la base de données ?", ["port", "base", "donne"]],
    ["¿Dónde vive la hermana de Marta?", ["vive", "hermana", "marta"]],
    ["Qual è il cognome della vicina?", ["cognom", "vicina"]],
    ["Hoe heet de hond van mijn zus?", ["heet", "hond", "zus"]],
    ["Onde fica a chave do carro?", ["fica", "chave", "carro"]],
  ])("%s has no function words of its language", (question, words) => {
    expect(asked(question)).toEqual(words);
  });

  test.each([
    ["When did Anna de Vries fly to Rio de Janeiro", "de"],
    ["Rio de Janeiro Anna de Vries", "de"],
    ["Die Hard", "die"],
    ["ls -l -a /usr/bin/man", "bin"],
    ["La La Land", "la"],
    ["front door die cast", "door"],
    ["vitamin C D dose", "c"],
    ["Wat is het adres van Ben?", "ben"],
    ["Dove vive la zia di Mia e di Sue?", "sue"],
    ["Was hat die Fahrt mit Uber gekostet?", "uber"],
  ])("%s keeps %s", (question, word) => {
    expect(asked(question)).toContain(word);
  });

  test("a question of nothing else keeps them", () => {
    expect(asked("der die das")).toHaveLength(3);
  });
});

const all: { count: number; accepts: Accepts } = { count: 10, accepts: null };
const NONE = new Float32Array(0);

describe("an index of words", () => {
  test("finds what has more of the rarer words first, and nothing else", () => {
    const index = createWordIndex();
    index.put(0, "apples and pears");
    index.put(1, "apples, apples and apples");
    index.put(2, "plums");
    const find = (words: string, limits = all) => index.matching(index.terms(words), limits);
    const found = () => find("apple or pear");
    expect(found()).toEqual([0, 1]);
    index.remove(0, "apples and pears");
    index.put(0, "plums");
    expect(found()).toEqual([1]);
    index.remove(1, "apples, apples and apples");
    expect(found()).toEqual([]);
    expect(find("plum", { count: 1, accepts: null })).toHaveLength(1);
    expect(find("plum", { count: 5, accepts: (text) => text === 2 })).toEqual([2]);
  });

  test("finds a text that has nothing but another spelling of stop words", () => {
    const index = createWordIndex();
    index.put(0, "to-do");
    const terms = index.terms("todo");
    expect(index.matching(terms, all)).toEqual([0]);
    expect(index.matches(terms, [0])[0]?.[0]).toBeGreaterThan(0);
  });

  test("a text that has many words like a misspelt one has no more of it than of a word", () => {
    const index = createWordIndex();
    index.put(0, "marmalada marmaladi marmalado marmaladu ".repeat(20));
    const [[match = 0] = []] = index.matches(index.terms("marmaladx"), [0]);
    expect(match).toBeGreaterThan(2);
    expect(match).toBeLessThanOrEqual(Math.fround(2.2));
  });

  test("four words of a question may be misspelt: of a pasted text no more are looked for", () => {
    const index = createWordIndex();
    const words = ["kubernetes", "penicillin", "accordion", "marmalade", "telescope"];
    for (const [text, word] of words.entries()) index.put(text, word);
    const misspelt = words.map((word) => `${word.slice(0, -2)}x`);
    const found = index.matching(index.terms(misspelt.join(" ")), all);
    expect(found.toSorted()).toEqual([0, 1, 2, 3]);
    expect(index.matching(index.terms(misspelt[4] ?? ""), all)).toEqual([4]);
    // Numbers stand for nothing else, and take no place.
    const numbers = "port17741 port27741 port37741 port47741 ";
    expect(index.matching(index.terms(numbers + misspelt[4]), all)).toEqual([4]);
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
      const byText = (index: typeof used) => {
        const terms = index.terms(query);
        const texts = index.matching(terms, { count: 5_000, accepts: null }).sort((a, b) => a - b);
        const matches = index.matches(terms, texts);
        return texts.map(
          (text, at) => [text, bm25Of({ matches: matches[at] ?? NONE }, terms)] as const,
        );
      };
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
    expect(index.matching(index.terms(contents[0] ?? ""), all)).toEqual([]);
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
    const terms = part.terms("apple pear", { texts: 5, textsWith, nearWords: new Map() });
    expect(terms).toEqual(whole.terms("apple pear"));
    expect(terms).not.toEqual(part.terms("apple pear"));
    expect(part.matching(terms, all)).toEqual([0, 1]);
    expect(part.matches(terms, [0, 1])).toEqual(whole.matches(terms, [0, 1]));
  });

  test("a word that no text has is had in part by texts with words like it", () => {
    const index = createWordIndex();
    for (const [text, content] of ["apple", "plum", "pear"].entries()) index.put(text, content);
    const like = new Map([
      ["appl", 1],
      ["plum", 0.5],
    ]);
    const corpus = { texts: 3, textsWith: new Map(), nearWords: new Map([["quinc", like]]) };
    const terms = index.terms("quince", corpus);
    expect(terms).toHaveLength(1);
    const matches = index.matches(terms, [0, 1, 2]).map((match) => match[0]);
    expect(matches).toEqual([1, 0.5, 0]);
    expect(index.matching(terms, all)).toEqual([0, 1]);
  });

  test("tells of each text how much it has of each word, whatever else is looked at", () => {
    const index = createWordIndex();
    const contents = ["apple pear", "apple apple plum", "plum"];
    for (const [text, content] of contents.entries()) index.put(text, content);
    const terms = index.terms("pear, apple and apple, quince");
    expect(terms.map(({ forms }) => forms.map(({ token }) => token))).toEqual([
      ["pear"],
      ["appl"],
      ["quinc"],
    ]);
    const [third = NONE, first = NONE, second = NONE] = index.matches(terms, [2, 0, 1]);
    expect([...third]).toEqual([0, 0, 0]);
    expect([...first].map((match) => match > 0)).toEqual([true, true, false]);
    expect(second[1]).toBeGreaterThan(first[1] ?? 9);
    expect(index.matches(terms, [1])).toEqual([second]);
    expect(index.matches([], [0])).toEqual([NONE]);
  });
});
