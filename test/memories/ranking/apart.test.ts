import { expect, test } from "bun:test";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import { areApart, readSeveral } from "../../../src/memories/ranking/versions/apart.ts";

test.each([
  ["gift ideas for Mia", "ideas"],
  ["Which restaurants in Altona are good?", "restaurants"],
  ["What are Anna's favourites?", "favourites"],
  ["Who are the reviewers of the API?", "reviewers"],
  ["Where do we have offices?", "offices"],
  ["What allergies does the user have?", "allergies"],
  ["Welche Sprachen spricht Lars?", "sprachen"],
  ["Was sind meine Allergien?", "allergien"],
  ["Which Postgres version does staging run?", null],
  ["Which tool formats the Go code?", null],
  ["What happens with logs after a while?", null],
  ["Which bus do I take?", null],
  ["What status does the ticket have?", null],
  ["Welche Datenbank nutzen wir?", null],
])("%s asks for several: %p", (text, several) => {
  expect(readSeveral(text)).toBe(several);
});

const memory = (content: string, createdAt: number, project: string | null = null) => ({
  ...{ content, createdAt, project, sessionId: null },
});

test("two of several things that are asked for are two facts, unless one has changed or each tells all of them", () => {
  const nuts = memory("Allergy of the user: hazelnuts.", 1);
  expect(areApart("allergies", nuts, memory("Allergy of the user: shellfish.", 2))).toBe(true);
  expect(areApart(null, nuts, memory("Allergy of the user: shellfish.", 2))).toBe(false);
  const corrected = memory("Correction: the allergy of the user is to walnuts.", 2);
  expect(areApart("allergies", nuts, corrected)).toBe(false);
  const all = memory("The user's allergies: hazelnuts, shellfish.", 2);
  expect(areApart("allergies", nuts, all)).toBe(false);
});

test("what two projects have are two facts, unless it is about the person or has changed", () => {
  const shop = memory("The dev server port is 3000.", 1, "shop");
  expect(areApart(null, shop, memory("The dev server port is 4000.", 2, "blog"))).toBe(true);
  expect(areApart(null, shop, memory("The dev server port is 4000.", 2, "shop"))).toBe(false);
  expect(areApart(null, shop, memory("The dev server port is 4000.", 2))).toBe(false);
  expect(areApart(null, shop, memory("The dev server port is now 4000.", 2, "blog"))).toBe(false);
  expect(areApart(null, shop, memory("My dev server port is 4000.", 2, "blog"))).toBe(false);
});

test.each([
  ["Wann war das Daily früher?", true],
  ["Wann war der Zahnarzttermin ursprünglich?", true],
  ["Welches Zahlungsziel hatte der Kunde vorher?", true],
  ["Was muss ich vorher prüfen?", false],
  ["Was soll ich vor dem Release tun?", false],
  ["Können wir früher anfangen?", false],
])("%s is about the past: %p", (text, isPast) => {
  expect(readQuestion(text, 0).asksForPast).toBe(isPast);
});
