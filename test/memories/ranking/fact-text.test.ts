import { expect, test } from "bun:test";
import {
  exactFactOf,
  factOf,
  factTokens,
  withStatement,
} from "../../../src/memories/ranking/fact-text.ts";
import { withPlainAmounts } from "../../../src/text/amounts.ts";

const SAME = [
  ["half past six in the evening", "6:30 pm", "18:30"],
  ["nine in the morning", "9 am", "09:00", "9 o'clock"],
  ["at one pm", "at 13:00"],
  ["a quarter past ten", "a 10:15"],
  ["quarter to one", "12:45"],
  ["five past three", "3:05"],
  ["noon", "12 o'clock"],
  ["midnight", "0:00"],
  ["thirty-six hours", "36 h", "36h", "36 hrs"],
  ["four hundred and five lines", "405 lines"],
  ["a thousand cases", "1,000 cases", "1000 cases"],
  ["two million", "2,000,000"],
  ["two dozen eggs", "24 eggs"],
  ["the fourth of March", "the 4th of March", "the 4 of March"],
  ["March first", "March 1st"],
  ["the twenty-second", "the 22nd"],
  ["a fortnight", "two weeks"],
  ["every other week", "every two weeks"],
  ["Thu 9 am", "Thursday 9 am", "Thurs 9"],
  ["Fri 22 Aug.", "Friday 22 August"],
  ["5-litre tins", "five litre tins", "5 l tins"],
  ["half price: 50 %", "half price: 50%", "half price: fifty percent"],
  ["€12", "12 €", "12 euros", "twelve EUR"],
];

test.each(SAME)("%s is the same amount or time as %s", (...texts) => {
  const forms = texts.map((text) =>
    withPlainAmounts(text)
      .replaceAll(/\b0(?=\d)/g, "")
      .trim(),
  );
  expect(new Set(forms).size, forms.join(" | ")).toBe(1);
});

test.each([
  ["no one but us has the blue one"],
  ["first we test, the second try is the last"],
  ["Jan likes Mar, who sat in the sun on Saturday"],
  ["host 10.20.4.11, version v1.2, db-stage-1"],
])("%s stays as it is", (text) => {
  expect(withPlainAmounts(text)).toBe(text);
});

test("other amounts, units and times stay other ones", () => {
  const texts = ["30 s", "30 min", "30 h", "3 pm", "3 am", "€30", "$30", "30 %", "30 GB", "30 MB"];
  expect(new Set(texts.map(withPlainAmounts)).size).toBe(texts.length);
});

test.each([
  ["Nobody but Ada can restart it.", false],
  ["I can't stand coriander.", false],
  ["Not only Ada may restart it.", false],
  ["Nobody can restart it.", true],
  ["Smoking is forbidden in the yard.", true],
  ["Deploys do *not* need approval.", true],
])("whether %s denies something", (text, negates) => {
  expect(exactFactOf({ content: text }).negates).toBe(negates);
});

test("a German text is read by its subject and its words of change, as an English one is", () => {
  const words = (content: string) => factOf({ content }).tokens.map(({ key, kind }) => [key, kind]);
  expect(words("Die Anzahl der Replikas von Kasse ist fünf.")).toEqual([
    ["anza", "word"],
    ["repli", "word"],
    ["kass", "word"],
    ["5", "number"],
  ]);
  const [now, before] = ["Ab jetzt ist der Port 8081, nicht mehr 9090.", "Der Port ist 9090."];
  expect(factOf({ content: now })).toMatchObject({ retracts: true });
  expect(factOf({ content: before })).toMatchObject({ retracts: false, negates: false });
  expect(factOf({ content: "Mein Bruder isst keine Nüsse." })).toMatchObject({
    negates: true,
    isOwn: true,
  });
});

test.each(["The die was cast in Berlin.", "Ask Anna von Arnim about it.", "In an hour so am I"])(
  "%s is no German text",
  (content) => {
    expect(factOf({ content }).tokens).toEqual(factTokens(content));
  },
);

test("of what a user said, the sentence that is about the question is the statement", () => {
  const asked = factTokens("What is the port of billing?");
  const of = (content: string) =>
    withStatement({ content, createdAt: 0, sessionId: null }, asked)?.content ?? null;
  expect(of("User: The build is green. The port of billing is 9090 now. Please go on.")).toBe(
    "The port of billing is 9090 now.",
  );
  expect(of("User: Port 9090, for billing.")).toBe("Port 9090, for billing.");
  expect(of("User: Ok. What was the port of billing? Thanks!")).toBeNull();
  expect(of("User: what is the port of billing")).toBeNull();
  expect(of("Assistant: The port of billing is 9090.")).toBeNull();
  expect(of("Billing has port 9090. Ok.")).toBe("Billing has port 9090. Ok.");
});
