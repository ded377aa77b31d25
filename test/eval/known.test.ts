import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FLOOR } from "../../src/memories/ranking/chance.ts";
import { startServer } from "../support/server.ts";
import { createAccount, type EvaluationAccount } from "./account.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { scoresIn } from "./foreign.ts";
import { foreignStores } from "./foreign-stores.ts";
import { readForeign, readNotes } from "./own-sets.ts";
import { measureUnsaid } from "./unsaid.ts";

const embedder = rememberingEmbedder();
const server = await startServer({ embedder });
afterAll(server.close);

describe("in a store of terse notes", () => {
  let account: EvaluationAccount;
  beforeAll(async () => {
    account = await createAccount(server, (await readNotes()).memories);
  }, 120_000);
  const best = async (question: string) =>
    (await account.ask(question, { limit: 1, reads: true }))[0];

  test.each(["zzzz", "how many moons does Jupiter have", "who painted the Mona Lisa", "hello"])(
    "nothing is known about %s",
    async (question) => {
      expect((await best(question))?.score ?? 0).toBeLessThan(FLOOR);
    },
  );

  test("an answer that shares no word with its question is known", async () => {
    const found = await best("what animal do I have");
    expect(found).toMatchObject({ content: "dog: Bella" });
    expect(found?.score).toBeGreaterThanOrEqual(FLOOR);
  });

  // Measured 0.92 and 0.96.
  test("most of what is foreign is silent, and most of the evidence is not", async () => {
    const files = [{ name: "notes", set: await readNotes() }];
    const [whole] = foreignStores([{ name: "notes", files }], await readForeign());
    if (!whole) throw new Error("there is no store");
    const { evidence, foreign } = await scoresIn(account, whole);
    const share = (scores: readonly number[], counts: (score: number) => boolean) =>
      scores.filter(counts).length / scores.length;
    const silent = share(
      foreign.map(({ score }) => score),
      (score) => score < FLOOR,
    );
    expect(silent).toBeGreaterThanOrEqual(0.9);
    expect(share(evidence, (score) => score >= FLOOR)).toBeGreaterThanOrEqual(0.94);
  });
});

test("a nonsense word is below the floor among 25 memories, and in one", async () => {
  const { memories } = await readNotes();
  for (const count of [25, 1]) {
    const account = await createAccount(server, memories.slice(0, count));
    for (const { score } of await account.ask("zzzz")) expect(score).toBeLessThan(FLOOR);
  }
});

test("results stay in the order of their scores, which leave none of them certain", async () => {
  const account = await createAccount(server, (await readNotes()).memories);
  const scores = (await account.ask("what is the wifi password")).map(({ score }) => score);
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
  expect(scores[0]).toBeGreaterThan(0.8);
  expect(scores[0]).toBeLessThan(1);
  expect(scores[5]).toBeLessThan(0.5);
});

// Measured: silent .22 and .56 of the questions (before what surely does not answer counted as much: .04 and .21), found .974 and 1.
test("what only looks like the fact that is asked for is often no answer, and the fact itself nearly always is", async () => {
  const counts = await measureUnsaid("held", embedder, 24);
  const sumOf = (read: (one: (typeof counts)[number]) => number) =>
    counts.reduce((sum, one) => sum + read(one), 0);
  const questions = sumOf((one) => one.questions);
  expect(questions).toBeGreaterThan(50);
  expect(sumOf(({ silent }) => silent) / questions).toBeGreaterThanOrEqual(0.25);
  expect(sumOf(({ found }) => found) / questions).toBeGreaterThanOrEqual(0.93);
});
