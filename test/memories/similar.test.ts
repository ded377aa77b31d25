import { afterAll, expect, test } from "bun:test";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { expectInvalid } from "../support/errors.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: sharedEmbedder() });
afterAll(server.close);
startRelations();

test("saving returns similar memories only when asked", async () => {
  const ada = await server.account();
  const first = await ada.save({ content: "The user's dog is called Momo." });
  await ada.save({ content: "The quarterly report is due on Friday." });
  const json = { content: "The dog of the user is named Momo." };
  const plain = await ada.send("POST", "/memories", { json });
  expect(plain.body).not.toHaveProperty("similar");
  const { body, status } = await ada.send("POST", "/memories?similar=true", {
    json: { content: "The user's dog is called Momo!" },
  });
  expect(status).toBe(201);
  expect(body).toMatchObject({
    similar: [
      { id: first.id, score: expect.any(Number), kind: "near" },
      { score: expect.any(Number), kind: "near" },
    ],
  });
});

test("saving returns memories that may be outdated, of the same project and of none", async () => {
  const ada = await server.account();
  const there = { content: "Sam works at Acme as a tester." };
  const { id } = await ada.save(there);
  const { id: sameProject } = await ada.save({ ...there, project: "atlas" });
  await ada.save({ ...there, project: "borealis" });
  await ada.save({ content: "Sam's sister works at a hospital.", project: "atlas" });
  const json = { content: "Sam works at Globex since October.", project: "atlas" };
  const { body } = await ada.send("POST", "/memories?similar=true", { json });
  const { similar } = body as { similar: { id: string; kind: string }[] };
  expect(similar.map((one) => one.id).sort()).toEqual([id, sameProject].sort());
  expect(similar).toMatchObject([{ kind: "changed" }, { kind: "changed" }]);
});

test("finding similar memories embeds nothing again, and reads only the own account", async () => {
  const embedder = fakeEmbedder();
  await using other = await startServer({ embedder });
  const [ada, bob] = [await other.account(), await other.account()];
  await bob.save({ content: "the same words" });
  const { body } = await ada.send("POST", "/memories?similar=true", {
    json: { content: "the same words" },
  });
  expect(body).toMatchObject({ similar: [] });
  expect(embedder.contents).toHaveLength(2);
});

test("similar memories of another project are left out, those of none are returned", async () => {
  const ada = await server.account();
  const content = "The user's dog is called Momo";
  const all = await ada.save({ content });
  const atlas = await ada.save({ content: `${content}.`, project: "atlas" });
  const similarTo = async (project: string | null) => {
    const json = { content: `${content}!`, project };
    const { body } = await ada.send("POST", "/memories?similar=true", { json });
    return (body as { similar: { id: string }[] }).similar.map(({ id }) => id).sort();
  };
  expect(await similarTo("boreas")).toEqual([all.id]);
  expect(await similarTo("atlas")).toEqual([all.id, atlas.id].sort());
  expect(await similarTo(null)).toEqual([all.id]);
});

test("similar is true or false", async () => {
  const ada = await server.account();
  const json = { content: "x" };
  expectInvalid(await ada.send("POST", "/memories?similar=maybe", { json }), "/similar");
});
