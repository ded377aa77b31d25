import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Client } from "../support/client.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { AS_CONNECTOR, connectHttp } from "../support/mcp.ts";
import { startServer, type TestServer } from "../support/server.ts";

/** A model whose loading ends when the test says so. */
const load = Promise.withResolvers<void>();
const fake = fakeEmbedder();
const embedder = {
  ...fake,
  ready: () => load.promise,
  embedQuery: (text: string) => load.promise.then(() => fake.embedQuery(text)),
};

let server: TestServer;
let client: Client;
beforeAll(async () => {
  server = await startServer({ embedder });
  client = await server.account();
  await client.save({ content: "Sam is allergic to peanuts" });
});
afterAll(() => server.close());

const modeOf = async (query: string) => {
  const answer = await client.send("GET", `/memories/search?q=peanuts${query}`);
  expect(answer).toMatchObject({
    status: 200,
    body: { memories: [{ content: "Sam is allergic to peanuts" }] },
  });
  return answer.headers.get("ctxd-search-mode");
};

test("while the model is being loaded a search compares words, and its answer names the mode", async () => {
  expect(await modeOf("")).toBe("keyword");
  await using agent = await connectHttp("v2 new", server.origin, {
    authorization: `Bearer ${client.key}`,
    ...AS_CONNECTOR,
  });
  for (const [tool, said] of [
    ["search_memories", {}],
    ["search", { results: { length: 1 }, note: expect.stringContaining("words only") }],
  ] as const) {
    const found = await agent.call(tool, { query: "peanuts" });
    expect(found.text).toContain("words only");
    expect(found.text).toContain("Sam is allergic to peanuts");
    expect(found.data).toMatchObject(said);
  }
  const [message] = await agent.prompt("load_context", { task: "cook without peanuts" });
  expect(JSON.stringify(message)).toContain("words only");

  // A search by meaning waits for the model.
  const byMeaning = modeOf("&mode=semantic");
  load.resolve();
  expect(await byMeaning).toBe("semantic");
  expect(await modeOf("")).toBe("hybrid");
  expect(await modeOf("&mode=keyword")).toBe("keyword");
  const found = await agent.call("search_memories", { query: "peanuts" });
  expect(found.text).not.toContain("words only");
});
