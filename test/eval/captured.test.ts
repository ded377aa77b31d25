import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";
import { createAccount } from "./account.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { askFacts, captureAll, ONLY_SAID, turnsAsking } from "./captured.ts";
import { type Measures, mean } from "./measures.ts";
import { readFacts } from "./own-sets.ts";
import { askAll } from "./recall.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);

// With 5,000 turns beside 500 facts, as `bun test/eval/captured.ts FOLDER` measures it: 0.726, 0.955 and
// 0.973 of the facts alone, 0.710, 0.944 and 0.965 beside talk in which the same was asked before.
test("facts are found as well where the same was asked in captured talk", async () => {
  const facts = await readFacts();
  const recallOf = async (account: Awaited<ReturnType<typeof createAccount>>) => {
    const answers = await askAll(facts, account, { mode: "hybrid" });
    return mean(answers.flatMap(({ measures }) => measures ?? [])).recall;
  };
  const account = await createAccount(server, facts.memories);
  const alone = await recallOf(account);
  await captureAll(server, account.accountId, turnsAsking(facts));
  const beside = await recallOf(account);
  for (const [at, recall] of alone.entries()) {
    expect(beside[at]).toBeGreaterThanOrEqual(recall - 0.01);
  }
});

// Measured 0.84 and 0.99.
test("facts that were only said are found beside those that were saved", async () => {
  const facts = await readFacts();
  const said = facts.memories.filter((_, at) => at % ONLY_SAID === 0);
  const saved = facts.memories.filter((memory) => !said.includes(memory));
  const account = await createAccount(server, saved);
  await captureAll(
    server,
    account.accountId,
    said.map(({ content }) => ({ role: "user", content })),
  );
  const recallOf = (measures: readonly Measures[] = []) => mean(measures).recall;
  const answers = await askFacts(account, facts.questions, said);
  const [ofSaid, ofSaved] = [recallOf(answers.get("only said")), recallOf(answers.get("saved"))];
  expect(ofSaid[2]).toBeGreaterThanOrEqual(0.8);
  expect(ofSaved[2]).toBeGreaterThanOrEqual(0.97);
});

test.each([
  [
    "What is the port of billing?",
    "The port of billing is 8081.",
    "Two things. The build is green. From now on, the port of billing is 9090. Please go on.",
  ],
  [
    "Before I write it down, what is the reviewer of the importer?",
    "The reviewer of the importer is Lena.",
    "Ok. Correction: the reviewer of the importer is Pavel.",
  ],
])(
  "a question finds what changed in talk before what was saved: %s",
  async (question, old, said) => {
    const client = await server.account();
    await client.save({ content: "The port of the gateway is 7001." });
    const { id } = await client.save({ content: old });
    server.clock.advance(86_400_000);
    await captureAll(server, client.accountId, [{ role: "user", content: said }]);
    const [first, ...others] = await client.search(question, { known: "true" });
    expect(first).toMatchObject({ content: `User: ${said}`, replaces: [id] });
    expect(others.find((memory) => memory.id === id)).toMatchObject({ newer: first?.id });
  },
);

test("a turn that answers comes before a saved memory about something like it", async () => {
  const client = await server.account();
  await client.save({ content: "The reviewer of the report builder is Lena." });
  await client.save({ content: "The API version of the exporter is v2." });
  const said = "The frontend framework of the report builder is React.";
  await captureAll(server, client.accountId, [{ role: "user", content: said }]);
  const found = await client.search("What is the frontend framework of the report builder?");
  expect(found[0]?.content).toBe(`User: ${said}`);
});
