import { afterAll, expect, test } from "bun:test";
import { randomUUIDv7 } from "bun";
import type { Memory } from "../../src/memories/model/memory.ts";
import type { Client } from "../support/client.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

const DAY = 86_400_000;
const at = (days: number) => new Date(server.clock() + days * DAY).toISOString();
const save = (client: Client, json: Record<string, unknown>) =>
  client.send("POST", "/memories", { json });

test("saving a duplicate returns the existing memory", async () => {
  const ada = await server.account();
  const first = await ada.save({ content: "Ada likes tea.", tags: ["taste"], session_id: "one" });
  server.clock.advance(1_000);
  const again = await save(ada, { content: "\n Ada likes tea. ", session_id: "two" });
  expect(again).toMatchObject({ status: 200, body: first });
  expect(again.headers.get("location")).toBe(`/api/memories/${first.id}`);
  expect((await ada.list()).memories).toEqual([first]);
});

test.each([
  ["another letter", { content: "The bees sleep!" }],
  ["another project", { project: "atlas" }],
  ["a pinned memory", { pinned: true }],
])("%s is no duplicate", async (_, fields) => {
  const ada = await server.account();
  await ada.save({ content: "The bees sleep." });
  expect(await save(ada, { content: "The bees sleep.", ...fields })).toMatchObject({ status: 201 });
  expect((await ada.list()).memories).toHaveLength(2);
});

test("a memory that expires earlier is not a duplicate", async () => {
  const ada = await server.account();
  const short = await ada.save({ content: "The gate is open.", expires_at: at(1) });
  const asShort = await save(ada, { content: "The gate is open.", expires_at: at(1) });
  expect(asShort).toMatchObject({ status: 200, body: { id: short.id } });
  const lasting = await save(ada, { content: "The gate is open." });
  expect(lasting).toMatchObject({ status: 201, body: { expires_at: null } });
});

test("a superseded memory is not a duplicate", async () => {
  const ada = await server.account();
  const acme = await ada.save({ content: "Sam works at Acme." });
  await ada.save({ content: "Sam works at Globex.", supersedes: acme.id });
  const again = await save(ada, { content: "Sam works at Acme." });
  expect(again).toMatchObject({ status: 201 });
  expect((again.body as Memory).id).not.toBe(acme.id);
});

test("simultaneous saves of the same text create one memory", async () => {
  const ada = await server.account();
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => save(ada, { content: "All at once." })),
  );
  expect(new Set(answers.map(({ body }) => (body as Memory).id)).size).toBe(1);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect((await ada.list()).memories).toHaveLength(1);
});

test("a repeated Idempotency-Key returns the same duplicate", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "The same." });
  const headers = { "idempotency-key": "k" };
  for (let time = 0; time < 2; time++) {
    const answer = await ada.send("POST", "/memories", { json: { content: "The same." }, headers });
    expect(answer).toMatchObject({ body: { id } });
  }
});

test("a key without the scope to read saves duplicates", async () => {
  const { accountId, save: saveAs } = await server.account();
  const { id } = await saveAs({ content: "Between us." });
  const blind = await server.client(accountId, ["memories:add"]);
  const answer = await save(blind, { content: "Between us." });
  expect(answer.status).toBe(201);
  expect((answer.body as Memory).id).not.toBe(id);
});

test("a batch and an import save duplicates, such as repeated turns of a conversation", async () => {
  const ada = await server.account();
  await ada.save({ content: "Yes." });
  expect(await ada.saveAll([{ content: "Yes." }, { content: "Yes." }])).toHaveLength(2);
  const line = { id: `mem_${randomUUIDv7("hex").replaceAll("-", "")}`, content: "Yes." };
  const headers = { "content-type": "application/x-ndjson" };
  await ada.send("POST", "/memories/import", { body: JSON.stringify(line), headers });
  expect((await ada.list()).memories).toHaveLength(4);
});
