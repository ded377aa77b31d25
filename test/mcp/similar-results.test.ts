import { expect, test } from "bun:test";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { save, startToolServer } from "./support/tool-server.ts";

const { server, connect } = await startToolServer({ embedder: sharedEmbedder() });
startRelations();

test("tells what has changed, and one further call supersedes it", async () => {
  const client = await connect();
  const old = await save(client, "The phone number of the caretaker is 555 0101.");
  server.clock.advance(1_000);
  const content = "The phone number of the caretaker is 555 0199.";
  const told = await client.call("save_memory", { content, tags: ["house"] });
  const { id, similar } = told.data as { id: string; similar: unknown };
  expect(similar).toMatchObject([{ id: old, kind: "changed" }]);
  expect(told.text).toContain(`supersedes: "${old}"`);
  expect(told.text).not.toContain("delete_memory");
  // The same memory gets the link, and is not saved twice.
  const again = await client.call("save_memory", { content, supersedes: old });
  expect(again.data).toMatchObject({ id });
  const listed = await client.call("list_memories", {});
  expect(listed.text).toContain("555 0199");
  expect(listed.text).toContain("tags: house");
  expect(listed.text).not.toContain("555 0101");
  // What was superseded is told when somebody saves it again.
  server.clock.advance(1_000);
  const back = await client.call("save_memory", {
    content: "Phone number of the caretaker: 555 0101",
  });
  expect(back.text).toContain(`was replaced by ${id} on `);
});

test("a memory that supersedes one already is not saved again for another one", async () => {
  const client = await connect();
  const first = await save(client, "The phone number of the porter is 555 0101.");
  server.clock.advance(1_000);
  const second = await save(client, "The phone number of the gardener is 555 0150.");
  server.clock.advance(1_000);
  const content = "The phone number of the porter is 555 0199.";
  const { text } = await client.call("save_memory", { content, supersedes: second });
  expect(text).toContain(`It supersedes ${second} already. If ${first} no longer holds either`);
  expect(text).not.toContain("save_memory again");
});

test("tells how much is in other projects when this one knows nothing", async () => {
  const { accountId } = await server.account();
  const elsewhere = await connect("v2 new", { accountId });
  await save(elsewhere, "The staging server of Boreas is called heron.", { project: "boreas" });
  const client = await connect("v2 new", { accountId, headers: { "ctxd-project": "atlas" } });
  const query = "What is the staging server called?";
  const here = await client.call("search_memories", { query });
  expect(here.text).toBe(
    'Nothing is known about that in this project. 1 in other projects: search with project "*".',
  );
  const everywhere = await client.call("search_memories", { query, project: "*" });
  expect(everywhere.text).toContain("heron");
});

test("says when nothing is from the time that was asked for", async () => {
  const client = await connect();
  await save(client, "The team went to the lake and swam.");
  const of = await client.call("search_memories", { query: "when did the team go to the lake?" });
  expect(of.text).not.toContain("from that date");
  const query = "what did the team do at the lake in May 2019?";
  const { text } = await client.call("search_memories", { query });
  expect(text).toContain("Nothing is from that date.");
});

test("memories that say the same are one result", async () => {
  const client = await connect();
  await save(client, "The user prefers short answers.");
  server.clock.advance(1_000);
  await save(client, "The user prefers short answers!");
  const { text } = await client.call("search_memories", {
    query: "which answers does the user prefer?",
  });
  expect(text).toContain("and 1 more like it");
  expect(text.match(/short answers/g)?.length).toBe(1);
});

test("a memory of another project with the same text stays as it is", async () => {
  const { accountId } = await server.account();
  const client = await connect("v2 new", { accountId });
  const content = "Releases are tagged by hand.";
  const there = await save(client, content, { project: "boreas" });
  const old = await save(client, "Releases are tagged by CI.", { project: "atlas" });
  const id = await save(client, content, { supersedes: old });
  expect(id).not.toBe(there);
  const { text } = await client.call("get_memory", { id: there });
  expect(text).toContain("project: boreas");
  expect(text).not.toContain("supersedes");
});
