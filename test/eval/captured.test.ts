import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";
import { createAccount } from "./account.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { captureAll, turnsAsking } from "./captured.ts";
import { mean } from "./measures.ts";
import { readFacts } from "./own-sets.ts";
import { askAll } from "./recall.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);

// With 5,000 turns beside 500 facts, as `bun test/eval/captured.ts FOLDER` measures it: 0.726, 0.955 and
// 0.973 of the facts alone, 0.721, 0.949 and 0.971 beside talk in which the same was asked before.
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
}, 120_000);
