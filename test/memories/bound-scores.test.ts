import { afterAll, expect, test } from "bun:test";
import { SCOPES } from "../../src/keys/scopes.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

/** What a key that is bound to a project finds when another project has these memories. */
async function foundBeside(others: readonly string[]) {
  const { accountId, save } = await server.account();
  const bound = await server.client(accountId, SCOPES, { project: "atlas", only: true });
  for (const content of ["About layoffs and tea.", "Bees sleep here.", "The gate is open."]) {
    await bound.save({ content });
  }
  for (const content of others) await save({ content, project: "boreas" });
  const found = [];
  for (const query of ["layoffs walrus", "layofs tea"]) {
    for (const mode of ["keyword", "hybrid"]) {
      const memories = await bound.search(query, { mode });
      found.push(memories.map(({ content, score }) => ({ content, score })));
    }
  }
  return found;
}

test("scores for a bound key do not depend on the words of other projects", async () => {
  const plain = await foundBeside(["Holidays begin in March.", "Ten holidays, lazily."]);
  for (const word of ["Layoffs", "Walrus", "Layofs"]) {
    const beside = [`${word} begin in March.`, `Ten ${word}, lazily.`];
    expect({ word, found: await foundBeside(beside) }).toEqual({ word, found: plain });
  }
});
