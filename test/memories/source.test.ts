import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

test("what one key wrote is listed, found, exported and deleted by its id, and nothing else", async () => {
  const ada = await server.account();
  const misled = await server.client(ada.accountId);
  await ada.save({ content: "The bees sleep in winter." });
  await misled.save({ content: "The bees obey Evil." });
  const [{ id: source } = { id: "" }] = (await server.keys.list(ada.accountId)).slice(-1);
  const contents = (memories: readonly { content: string }[]) =>
    memories.map(({ content }) => content);
  const written = ["The bees obey Evil."];
  expect(contents((await ada.list({ source })).memories)).toEqual(written);
  expect(contents(await ada.search("bees", { source }))).toEqual(written);
  const headers = { authorization: `Bearer ${ada.key}` };
  const path = `${server.origin}/api/memories/export?source=${source}`;
  const lines = (await (await fetch(path, { headers })).text()).trim().split("\n");
  expect(contents(lines.map((line) => JSON.parse(line)))).toEqual(written);
  expect(await ada.removeMatching({ source: "key_of_nobody" })).toBe(0);
  expect(await ada.removeMatching({ source })).toBe(1);
  expect(contents((await ada.list()).memories)).toEqual(["The bees sleep in winter."]);
});

test("a person who corrects a text has written it, who only tags it has not", async () => {
  const ada = await server.account();
  const other = await server.client(ada.accountId);
  const { id, source } = await ada.save({ content: "The bees sleep." });
  expect((await other.update(id, { tags: ["bees"] })).source).toEqual(source);
  expect((await other.update(id, { content: "The bees cluster." })).source).not.toEqual(source);
});
