import { expect, test } from "bun:test";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import { saysOver } from "../../../src/memories/ranking/versions/over.ts";

test.each([
  [
    "Where do our toggles live?",
    "Toggles live in LaunchDarkly.",
    "LaunchDarkly has been swapped out for Unleash.",
  ],
  ["Which linter do we use?", "Use eslint for linting.", "Replaced eslint with biome."],
  [
    "Where are our tickets?",
    "Tickets live in Jira.",
    "We're off Jira, all of it was copied to Linear.",
  ],
  [
    "Where is the offsite?",
    "Offsite: Bruges, 14 to 16 July.",
    "Bruges fell through, we go to Namur.",
  ],
  [
    "Womit überwachen wir die Server?",
    "Wir überwachen die Server mit Nagios.",
    "Nagios ist abgeschaltet, Checkmk macht das.",
  ],
])("%s %s – %s", (question, older, newer) => {
  expect(isOver(question, older, newer)).toBe(true);
});

test.each([
  ["the question names it", "What is Jira for?", "Tickets live in Jira.", "We're off Jira."],
  [
    "something else is over",
    "Where are our tickets?",
    "Tickets live in Jira.",
    "We're off Slack now.",
  ],
  [
    "both say so",
    "Which framework does the blog use?",
    "Switched the blog from Gatsby to Astro.",
    "Switched the shop from Gatsby to Remix.",
  ],
  [
    "both are turns of a conversation",
    "Where are our tickets?",
    "User: I put my tickets into Jira.",
    "User: We're off Jira.",
  ],
  ["nothing is over", "Where are our tickets?", "Tickets live in Jira.", "Jira is slow today."],
])("not if %s", (_, question, older, newer) => {
  expect(isOver(question, older, newer)).toBe(false);
});

test("not if both were saved at once", () => {
  const texts = [
    "Which linter do we use?",
    "Use eslint for linting.",
    "Replaced eslint with biome.",
  ];
  const [question = "", older = "", newer = ""] = texts;
  expect(isOver(question, older, newer, 0)).toBe(false);
});

/** @param later milliseconds between the two memories */
function isOver(question: string, older: string, newer: string, later = 1): boolean {
  const memory = (content: string, createdAt: number) => {
    const sessionId = content.startsWith("User: ") ? "s-1" : null;
    return { content, createdAt, sessionId };
  };
  return saysOver(readQuestion(question, 0).facts, memory(older, 0), memory(newer, later));
}
