import { afterAll, expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);
const ada = await server.account();

/** A question, and the memory that answers it without a common word. */
const QUESTIONS = [
  ["what food must the child avoid", "My daughter is allergic to peanuts."],
  ["which pet lives with them", "A tabby cat named Miso sleeps on our sofa."],
  ["who works in health care", "Tom is employed as a nurse at the city hospital."],
  ["how do we get to our plane", "A taxi for the flight is booked at six."],
  ["favourite music", "She listens to jazz records every evening."],
] as const;

const DISTRACTORS = [
  "The quarterly report is due on Friday.",
  "The kitchen tap has been dripping since Monday.",
  "Backups run at three in the morning.",
  "The password policy asks for twelve characters.",
  "Our office moved to the fourth floor.",
  "The printer needs a new cartridge.",
  "He prefers tabs over spaces.",
  "The database was migrated last week.",
  "Rent is paid on the first of the month.",
  "The train to Basel leaves from platform nine.",
  "Use British spelling in letters.",
  "The garden needs watering in summer.",
  "Grandmother turns eighty in May.",
  "The bicycle has a flat tyre.",
  "Meetings start five minutes late.",
  "The library closes at eight.",
  "Invoices are sent by post.",
  "The window faces north.",
  "A parcel is waiting at the neighbour's.",
  "The build takes four minutes.",
];

const wordsOf = (text: string) => new Set(text.toLowerCase().match(/\p{L}+/gu));
const NO_FACT = Array.from(
  { length: 500 },
  (_, index) => `Note ${index}: the meeting room on floor ${index % 9} was cleaned and locked.`,
).join(" ");

test("a question finds the memory that answers it, without a common word", async () => {
  const contents = [...DISTRACTORS, ...QUESTIONS.map(([, answer]) => answer)];
  await ada.saveAll(contents.map((content) => ({ content })));
  for (const [question, answer] of QUESTIONS) {
    expect(wordsOf(question).intersection(wordsOf(answer)).size).toBe(0);
    for (const mode of ["hybrid", "semantic"]) {
      expect(contentsOf(await ada.search(question, { mode, limit: 1 }))).toEqual([answer]);
    }
    expect(contentsOf(await ada.search(question, { mode: "keyword" }))).not.toContain(answer);
  }
});

test("a changed memory is found by its new meaning, and a deleted one is not found", async () => {
  const bob = await server.account();
  await bob.saveAll(DISTRACTORS.map((content) => ({ content })));
  const { id } = await bob.save({ content: "My daughter is allergic to peanuts." });
  const best = async (question: string) => (await bob.search(question, { limit: 1 }))[0];
  expect((await best("what food must the child avoid"))?.id).toBe(id);
  await bob.update(id, { content: "Our car is a blue station wagon." });
  expect((await best("what vehicle do they drive"))?.id).toBe(id);
  expect((await best("what food must the child avoid"))?.content).not.toContain("peanuts");
  await bob.remove(id);
  expect((await best("what vehicle do they drive"))?.id).not.toBe(id);
});

test("a fact in the last sentence of 30,000 characters is found by its meaning", async () => {
  const bob = await server.account();
  await bob.saveAll(DISTRACTORS.map((content) => ({ content })));
  const fact = "My daughter is allergic to peanuts.";
  const content = `${NO_FACT.slice(0, 29_900 - fact.length)}. ${fact}`;
  const { id } = await bob.save({ content, tags: ["long"] });
  for (const mode of ["hybrid", "semantic"]) {
    const found = await bob.search("what food must the child avoid", { mode });
    expect(found[0]?.id).toBe(id);
    expect(found.filter((memory) => memory.id === id)).toHaveLength(1);
  }
  expect((await bob.get(id)).content).toBe(content);
});
