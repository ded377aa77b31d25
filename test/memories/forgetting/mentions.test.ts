import { expect, test } from "bun:test";
import { readSubject } from "../../../src/memories/rules/forgetting/mentions.ts";

test.each([
  ["Anna", "Anna is allergic to peanuts.", "named"],
  ["Anna", "Is this Anna's car, or Annas Auto, or Anna’s?", "named"],
  ["Anna", "met anna at the gym", "named"],
  ["Anna", "Write to anna.schmidt@example.org.", "named"],
  ["Anna", "her user name is anna_schmidt", "named"],
  ["Anna", "Anna-related papers", "named"],
  ["Anna", "Anna-Lena's birthday", "perhaps"],
  ["Anna", "Lena-Anna's birthday", "perhaps"],
  ["Anna", "Hannah, Joanna and Annapurna", null],
  ["Lucas", "This is Lucas' desk.", "named"],
  ["Zoë", "Zoe plays the piano.", "named"],
  ["Anna Schmidt", "signed by Anna Schmidt", "named"],
  ["Anna Schmidt", "signed by Anna B. Schmidt", "named"],
  ["Anna Schmidt", "Schmidt, Anna: customer 4711", "named"],
  ["Anna Schmidt", "Anna met Peter in town, and Schmidt paid.", "perhaps"],
  ["Anna Schmidt", "Mr Schmidt pays late.", "perhaps"],
  ["anna", "Anna-Lena's birthday", "perhaps"],
  ["Anna-Lena Kruse", "Ask Anna‐Lena Kruse's brother.", "named"],
  ["anna-lena kruse", "Anna-Lena Kruse is the dentist.", "named"],
  ["Anna-Lena", "Anna-Lena-Marie sings.", "perhaps"],
  ["O'Brien", "Mr O’Brien called.", "named"],
  ["K-AB 1234", "The car K-AB 1234 is ours.", "named"],
  ["eu-west-3", "It runs in eu-west-3.", "named"],
  ["eu-west-3", "It runs in eu-west-31.", null],
  ["anna", "Ask Anna.", "named"],
  ["the old staging server", "The servers for staging are old.", "named"],
  ["the old staging server", "The staging server is new.", null],
  ["deployed", "We employ gardeners.", null],
  ["deployed", "We deploy on Mondays.", "perhaps"],
  ["Will", "Will likes tea.", "named"],
  ["田中", "昨日田中さんに会った", "named"],
  ["田中", "昨日中田さんに会った", null],
] as const)("%s in “%s”: %p", (subject, text, mention) => {
  expect(readSubject(subject).find(text)).toBe(mention);
});

test("a name in small letters is told apart on request, and counted", () => {
  const rose = readSubject("Rose");
  expect(rose.find("the price rose again", false)).toBe("perhaps");
  expect(rose.find("Rose paid", false)).toBe("named");
  expect(rose.countCases("Rose saw a rose, and Rose paid.")).toEqual({ capital: 2, small: 1 });
});

test("a long text that repeats a part of the name takes no longer than a pause", () => {
  const { find } = readSubject("A B A B A B A C");
  const started = performance.now();
  expect(find("a, b, ".repeat(5_000))).toBe("perhaps");
  expect(performance.now() - started).toBeLessThan(100);
});
