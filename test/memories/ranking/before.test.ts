import { expect, test } from "bun:test";
import type { Relate } from "../../../src/embedding/relations/relater.ts";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import { earlierThanNamed } from "../../../src/memories/ranking/versions/before.ts";

const ASKED = "Whose name was on the shirts before the pharmacy?";
const PHARMACY = "The pharmacy pays for the shirts now and has its name on them.";
const GARAGE = "The handball shirts say Garage Pohl.";

/** What comes first instead of the newest of results, or null. @param answers the chance that each earlier one answers */
async function earlierOf(
  question: string,
  contents: readonly string[],
  { answers = 0.9, chance = 0.5, sessionId = null as string | null } = {},
) {
  const results = contents.map((content, at) => ({
    memory: { content, createdAt: contents.length - at, sessionId },
    chance: at === 0 ? 0.9 : chance,
  }));
  const relate: Relate = async () => ({ same: 0, changed: 0, answers });
  const asked = readQuestion(question, 0);
  return (await earlierThanNamed(asked, results, relate))?.memory.content ?? null;
}

test("what a question names after before is not what it asks for", async () => {
  expect(await earlierOf(ASKED, [PHARMACY, GARAGE])).toBe(GARAGE);
  // What an agent saves has the session in which it was saved.
  expect(await earlierOf(ASKED, [PHARMACY, GARAGE], { sessionId: "s-1" })).toBe(GARAGE);
});

test.each([
  ["the first result does not name it", ASKED, [GARAGE, "The balls are new."], {}],
  ["both name it", ASKED, [PHARMACY, "The pharmacy sponsors the team."], {}],
  ["the first tells itself what was before", ASKED, [`Before: Pohl. ${PHARMACY}`, GARAGE], {}],
  ["the other one does not answer", ASKED, [PHARMACY, GARAGE], { answers: 0.1 }],
  ["the other one is unlikely", ASKED, [PHARMACY, GARAGE], { chance: 0.2 }],
  ["it is about a habit", "What do I do before the pharmacy opens?", [PHARMACY, GARAGE], {}],
  ["it is about now", "Whose name is on the shirts?", [PHARMACY, GARAGE], {}],
  ["it asks how long", "How many days before the pharmacy was it?", [PHARMACY, GARAGE], {}],
  ["they are turns of a conversation", ASKED, [`user: ${PHARMACY}`, `user: ${GARAGE}`], {}],
] as const)("the first result stays if %s", async (_, question, contents, options) => {
  expect(await earlierOf(question, contents, options)).toBeNull();
});
