import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { mean, measure } from "./measures.ts";
import { createMember, type Divide } from "./member.ts";
import { readFacts } from "./own-sets.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);

async function recallOf(divide: Divide) {
  const set = await readFacts();
  const ask = await createMember(server, set.memories, divide);
  const asked = set.questions.filter(({ evidence }) => evidence.length > 0);
  const measures = [];
  for (const { question, evidence } of asked) measures.push(measure(await ask(question), evidence));
  return mean(measures);
}

test("what lies in three places is found as well as what lies in one", async () => {
  const [together, apart] = [await recallOf("together"), await recallOf("by memory")];
  expect(apart.questions).toBe(together.questions);
  for (const [at, recall] of together.recall.entries()) {
    expect(apart.recall[at]).toBeWithin(recall - 0.01, 1.001);
  }
  expect(apart.reciprocalRank).toBeWithin(together.reciprocalRank - 0.01, 1.001);
});
