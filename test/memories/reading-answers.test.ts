import { expect, test } from "bun:test";
import type { Embedder } from "../../src/embedding/embedder.ts";
import type { Relate } from "../../src/embedding/relations/relater.ts";
import { contentsOf } from "../support/client.ts";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const DAY = 86_400_000;
const LININGS = [
  "The coat itself is made of boiled wool instead of felt.",
  "The lining of the coat is made of viscose.",
];
const ASKED = "Which cloth is the outside of the coat?";

startRelations();

/** The model in an account of its own, with the pairs that were asked of it. */
async function withModel(relate: Relate = sharedEmbedder().relate) {
  const pairs: string[][] = [];
  const embedder: Embedder = {
    ...sharedEmbedder(),
    relate: (earlier, later, ahead) => {
      pairs.push([earlier, later]);
      return relate(earlier, later, ahead);
    },
    // The other tests need it.
    close: async () => {},
  };
  const server = await startServer({ embedder });
  const ada = await server.account();
  return {
    server,
    ada,
    pairs,
    async save(contents: readonly string[], sessionId?: string) {
      for (const content of contents) {
        await ada.save({ content, ...(sessionId !== undefined && { session_id: sessionId }) });
        server.clock.advance(100 * DAY);
      }
    },
    [Symbol.asyncDispose]: server.close,
  };
}

test("of two things in the same words, the one that is asked for comes first", async () => {
  await using model = await withModel();
  await model.save(LININGS);
  const found = await model.ada.search(ASKED, { explain: "true" });
  expect(contentsOf(found)).toEqual(LININGS);
  const scores = found.map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  for (const { score, explanation } of found) {
    const { relevance = 0, retention = 0, decay = 0, ...parts } = explanation ?? {};
    const sum = Object.values(parts).reduce((all, part) => all + part, 0);
    expect(1 / (1 + Math.exp(-sum))).toBeCloseTo(relevance, 4);
    expect(relevance * (1 - decay + decay * retention)).toBeCloseTo(score, 3);
  }
});

test("nothing is known where the same is said of another person alone, and a page still shows it", async () => {
  await using model = await withModel();
  await model.save(["Rosa is allergic to peanuts.", "Ida plays the cello."]);
  const ask = async (name: string, known: string) =>
    contentsOf(await model.ada.search(`What is ${name} allergic to?`, { known }));
  expect(await ask("Ida", "true")).toEqual([]);
  expect(await ask("Rosa", "true")).toEqual(["Rosa is allergic to peanuts."]);
  expect((await ask("Ida", "false"))[0]).toBe("Rosa is allergic to peanuts.");
});

test("of two German versions the newer comes first, although the model hardly knows the language", async () => {
  await using model = await withModel();
  const told = [
    "Die Anzahl der Wiederholungen von Kasse ist 8.",
    "Laut Nutzer ist die Anzahl der Wiederholungen von Kasse 6, nicht mehr 8.",
  ];
  await model.save([...told, "Der Port von Kasse ist 80."]);
  const found = await model.ada.search("Was ist die Anzahl der Wiederholungen von Kasse?");
  expect(contentsOf(found).slice(0, 2)).toEqual(told.toReversed());
});

test("while the model can't be used, the ranking's order stays", async () => {
  const failing = async () => {
    throw new Error("no model");
  };
  await using model = await withModel(failing);
  await model.save(LININGS);
  expect(contentsOf(await model.ada.search(ASKED))).toEqual(LININGS.toReversed());
});

test("nothing is read where one memory stands out, where nothing is known, and of a conversation", async () => {
  await using model = await withModel();
  const isQuestion = ([earlier = ""]: string[]) => earlier.includes("?");
  await model.save([LININGS[0] ?? "", "Rosa's birthday is on the second of May."]);
  await model.ada.search("When is Rosa's birthday?");
  await model.ada.search("What is the boiling point of tungsten?");
  expect(model.pairs.filter(isQuestion)).toEqual([]);
  await model.save(["Rosa: the coat is made of felt", "Ida: the lining is made of silk"], "talk");
  await model.ada.search("What is the coat made of?");
  const turns = model.pairs.filter(([, text = ""]) => /^(?:Rosa|Ida):/.test(text));
  expect(turns.filter(isQuestion)).toEqual([]);
});

test("a number of the question counts more than what the model makes of it", async () => {
  const contrary: Relate = async (_, memory) => ({
    ...{ same: 0, changed: 0 },
    answers: memory.includes("0118") ? 0 : 1,
  });
  await using model = await withModel(contrary);
  await model.save(["Invoice 2026-0118 was paid in May.", "Invoice 2026-0119 was paid in June."]);
  const [first] = contentsOf(await model.ada.search("when was invoice 2026-0118 paid?"));
  expect(first).toContain("0118");
});
