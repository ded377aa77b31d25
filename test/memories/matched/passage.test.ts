import { describe, expect, test } from "bun:test";
import { createMatcher } from "../../../src/memories/matched/passage.ts";
import { termsOf } from "../../../src/memories/matched/term-finder.ts";
import { createRandom } from "../../support/random.ts";

const FILLER = "Of this and that we spoke at length. ";
/** A text with something of interest in the middle. */
const around = (text: string, times = 60) => FILLER.repeat(times) + text + FILLER.repeat(times);
const matcherOf = (question: string) => createMatcher(termsOf(question));
const passageOf = (question: string, text: string, nearest?: { start: number; end: number }) =>
  matcherOf(question)(text, nearest).text;

test("a short text is its own passage, whatever is asked", () => {
  for (const text of ["tea", "  tea\n", "🦜".repeat(400), "x".repeat(400)]) {
    const matched = { text, start: 0, end: [...text].length };
    for (const question of ["tea", "nothing of it", "?"]) {
      expect(matcherOf(question)(text)).toEqual(matched);
    }
  }
});

test("of a long text it is where the most words of the question are together", () => {
  const fact = "Sam keeps the spare key of the cabin under the blue flowerpot. ";
  const stray = `The key question was another. ${FILLER.repeat(20)}The cabin was cold. `;
  const text = around(stray + FILLER.repeat(20) + fact);
  expect(passageOf("where is the spare key of the cabin?", text)).toContain(fact.trim());
});

test("its words may have other endings, accents, or stand in an identifier", () => {
  const cases = [
    ["which servers were restarted?", "The staging server restarts every night."],
    ["café crème", "She ordered a CAFE CREME."],
    ["user by id", "It calls getUserById first."],
    [
      "what does src/memories/rules/search.ts do?",
      "See src/memories/rules/search.ts for the rest.",
    ],
    ["ERR_TLS_CERT_INVALID", "The log says ERR_TLS_CERT_INVALID."],
    ["दिल्ली?", "राहुल दिल्ली में रहता है।"],
    ["איפה המפתח של הבית?", "הַמַּפְתֵּחַ שֶׁל הַבַּיִת אצל דנה."],
    ["أين مفتاح البيت؟", "مِفْتاح البيت عند دانا."],
    ["где ключ от дома?", "КЛЮЧ от дома у Дани."],
    ["Grüße aus München", "GRÜSSE AUS MÜNCHEN kamen an."],
  ] as const;
  for (const [question, fact] of cases) {
    expect(passageOf(question, around(`${fact} `))).toContain(fact);
  }
});

test("words are found in scripts without spaces", () => {
  const cases = [
    ["李明在哪里工作？", "李明在上海的银行工作了三年。", "今天天气很好，我们去了公园。"],
    ["猫の名前は？", "うちの猫の名前はミケです。", "昨日は雨が降りました。"],
    ["ธนาคารของสมชาย", "สมชายทำงานที่ธนาคารในกรุงเทพ ", "วันนี้อากาศดีมาก "],
    ["서울의 회사", "민수는 서울에 있는 회사에 다닌다. ", "오늘은 날씨가 좋았다. "],
  ] as const;
  for (const [question, fact, filler] of cases) {
    const text = filler.repeat(80) + fact + filler.repeat(80);
    expect(passageOf(question, text)).toContain(fact.trim());
  }
});

test("a rare word counts for more than one that is everywhere", () => {
  const text = `${"Sam said that Sam was tired, said Sam. ".repeat(40)}Sam adopted a ferret. ${FILLER.repeat(40)}`;
  expect(passageOf("what has Sam said of his ferret?", text)).toContain("adopted a ferret");
  const [common, rare] = ["The weekly report is late. ", "The zygote report is late. "];
  const both = FILLER.repeat(40) + common + FILLER.repeat(40) + rare + FILLER.repeat(40);
  const terms = termsOf("weekly zygote").map((term) => ({
    ...term,
    rareness: term.forms[0]?.token.startsWith("zyg") ? 8 : 1,
  }));
  expect(createMatcher(terms)(both).text).toContain(rare.trim());
});

describe("the nearest passage", () => {
  const fact = (name: string) => `The key is with ${name}. `;
  const text = around(fact("Ada")) + around(fact("Bob"));
  const half = { start: text.length / 2, end: text.length };

  test("decides between places that say the same", () => {
    expect(passageOf("key", text)).toContain("Ada");
    expect(passageOf("key", text, half)).toContain("Bob");
  });

  test("is shown from its beginning where no word is found", () => {
    const passage = matcherOf("zebra")(text, half);
    expect(passage.start).toBe(half.start);
    expect(matcherOf("zebra")(text).start).toBe(0);
  });

  test("gives way to a place with clearly more words of the question", () => {
    expect(passageOf("has Ada got the key?", text, half)).toContain("Ada");
  });
});

test("it is whole sentences where they fit, and whole lines of a list", () => {
  const text = around("\n- milk\n- The key is with Ada. Ask her! She is in.\n- bread\n");
  const passage = passageOf("key", text);
  expect(passage).toMatch(/^(Of|-)/);
  expect(passage).toMatch(/(length\.|bread)$/);
  expect(passage).toContain("- The key is with Ada. Ask her! She is in.");
});

test("places count characters as the limits do, a pair of surrogates as one", () => {
  const text = "🦜 ".repeat(300) + around("The key is with Ada 🦜. ");
  const { text: passage, start, end } = matcherOf("key")(text);
  expect(passage).toContain("with Ada");
  expect([...text].slice(start, end).join("")).toBe(passage);
  expect(start).toBeGreaterThan(300);
});

test("whatever the text is, it is a part of it, 1 to 400 characters, without half characters or words", () => {
  const random = createRandom(3);
  const parts = [
    "word ",
    "key",
    " ",
    "\n",
    ". ",
    "🦜",
    "👨‍👩‍👧‍👦",
    "é",
    "e\u0301",
    "李明",
    "。",
    "ธนา",
    "שלום ",
  ];
  const more = ["\0", "getUserById", "x".repeat(90), " ".repeat(90), "ERR_TLS ", "서울에 ", "ー"];
  const all = [...parts, ...more];
  const one = () => all[random.below(all.length)] ?? "";
  for (let round = 0; round < 3_000; round++) {
    const kinds = Array.from({ length: 1 + random.below(6) }, one);
    let text = "a";
    for (const length = random.below(3_000); text.length < length; ) {
      text += kinds[random.below(kinds.length)];
    }
    const { text: passage, start, end } = matcherOf(`${kinds[0]} ${one()}`)(text);
    const characters = [...text];
    expect(characters.slice(start, end).join("")).toBe(passage);
    if (characters.length <= 400) continue;
    expect(end - start).toBeWithin(1, 401);
    expect(passage.trim()).toBe(passage);
    expect(passage.isWellFormed()).toBe(true);
    for (const place of [start, end]) {
      const runBefore = /\S*$/.exec(
        characters.slice(Math.max(0, place - 120), place).join(""),
      )?.[0];
      const runAfter = /^\S*/.exec(characters.slice(place, place + 120).join(""))?.[0];
      const isCut = runBefore !== "" && runAfter !== "" && !/[。.]$/.test(runBefore ?? "");
      if (isCut) expect(`${runBefore}${runAfter}`.length).toBeGreaterThan(99);
    }
  }
});
