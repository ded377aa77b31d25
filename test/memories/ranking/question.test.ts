import { expect, test } from "bun:test";
import { readQuestion } from "../../../src/memories/ranking/question.ts";

const namesIn = (text: string) => readQuestion(text, 0).names;

test("names are words with a capital, and identifiers, but not the first word", () => {
  expect(namesIn("Which port has the Staging database of Anna?")).toEqual(["stag", "anna"]);
  expect(namesIn("TSLint migration path")).toEqual(["tsli"]);
});

test("German nouns after an article are no names", () => {
  expect(
    namesIn("Für das neue Ticket brauche ich den Port von Billing, wie lautet die Angabe?"),
  ).toEqual(["bill"]);
  expect(namesIn("Welchen Port hat die Datenbank?")).toEqual([]);
  expect(namesIn("Wo arbeitet Anna seit dem Umzug nach Hamburg?")).toEqual(["anna", "hamb"]);
  expect(namesIn("Was ist die ID von api2 im Katalog meiner Firma?")).toEqual(["id", "api2"]);
});
