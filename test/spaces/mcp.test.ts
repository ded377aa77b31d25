import { expect, test } from "bun:test";
import recorded from "../../src/mcp/first-answers.json" with { type: "json" };
import { save, startToolServer } from "../mcp/support/tool-server.ts";
import { AS_CONNECTOR, CLIENTS, type McpClient, shownIn } from "../support/mcp.ts";
import { addPerson, join } from "../support/space-team.ts";

const { server, connect } = await startToolServer();

const ALONE = recorded.lists["tools/list"].tools;
const CHOOSING = ["search_memories", "list_memories", "save_memory"];

/** Ann, in the spaces acme, in which the project acme/web lives, and ops; Bob may read in acme. */
async function team() {
  const ann = await addPerson(server, "ann");
  const bob = await addPerson(server, "bob");
  const acme = await server.spaces.create(ann.accountId, "acme");
  const ops = await server.spaces.create(ann.accountId, "ops");
  await server.spaces.change(ann.accountId, acme.id, { projects: ["acme/web"] });
  await join(server, acme, bob, "read");
  return { ann, bob, acme, ops };
}

const bytesOf = (tools: unknown) => Buffer.byteLength(JSON.stringify({ tools }));
const takesSpace = (tools: Awaited<ReturnType<McpClient["tools"]>>) =>
  tools.filter(({ inputSchema }) => "space" in (inputSchema.properties ?? {}));

test("who has no space is offered the same tools as ever; a space costs less than 300 bytes", async () => {
  const { ann, acme } = await team();
  for (const name of CLIENTS) {
    const alone = await addPerson(server, "eve");
    const client = await connect(name, alone);
    const tools = await client.tools();
    expect(tools as object[]).toEqual(ALONE);
    expect(bytesOf(tools)).toBe(bytesOf(ALONE));
    expect(client.instructions()).toBe(recorded.introduction.instructions);

    const member = await connect(name, ann);
    const withSpace = await member.tools();
    expect(takesSpace(withSpace).map((tool) => tool.name)).toEqual(CHOOSING);
    const costs = bytesOf(withSpace) - bytesOf(ALONE);
    expect(costs).toBeGreaterThan(0);
    expect(costs).toBeLessThan(300);
    expect(member.instructions()).toContain('shares with other people: "acme", "ops".');

    // Whose request names a space has nothing to choose.
    const inside = await connect(name, { ...ann, headers: { "ctxd-space": acme.id } });
    expect(await inside.tools()).toEqual(tools);
    expect(inside.instructions()).toBe(client.instructions());
  }
});

test.each([...CLIENTS])(
  "a client of the kind %s saves into a space and finds it there",
  async (name) => {
    const { ann, bob } = await team();
    const client = await connect(name, ann);
    const content = "The shop deploys on Tuesdays.";
    const saved = await client.call("save_memory", { content, project: "acme/web" });
    const id = String(saved.data.id);
    expect(saved.text).toBe(`Saved as ${id} in the space acme: its members see it.`);
    expect(saved.data).toMatchObject({ id, space: "acme" });
    const again = await client.call("save_memory", { content, space: "acme", project: "acme/web" });
    expect(again.text).toBe(`Already known in the space acme, as ${id}.`);

    const reader = await connect(name, bob);
    const found = await reader.call("search_memories", { query: "When does the shop deploy?" });
    expect(shownIn(found)).toMatchObject([{ id, content }]);
    expect(found.text).toContain(" · in the space acme · ");
    expect((await reader.call("get_memory", { id })).text).toContain("in the space acme");
    expect(JSON.stringify(await reader.read(`memory://${id}`))).toContain("in the space acme");
    const context = await reader.prompt("load_context", { task: "deploy the shop" });
    expect(JSON.stringify(context)).toContain("in the space acme");
    const refused = await reader.call("update_memory", { id, content: "Never." });
    expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("may read") });

    const updated = await client.call("update_memory", { id, importance: 0.7 });
    expect(updated.text).toBe(`Updated ${id} in the space acme.`);
    expect((await client.call("delete_memory", { id })).isError).toBe(false);
    expect((await reader.call("get_memory", { id })).isError).toBe(true);
  },
);

test("a call chooses a space by its name or id, or the person's own memories", async () => {
  const { ann, bob, acme } = await team();
  const client = await connect("v2 new", ann);
  await save(client, "The boat is blue.", { space: "ops" });
  await save(client, "The boat is green.", { space: acme.id });
  const mine = { content: "The boat is mine.", space: "personal", project: "acme/web" };
  expect((await client.call("save_memory", mine)).text).not.toContain("space");
  const contents = async (space: Record<string, string>, tool = "search_memories") => {
    const args = tool === "search_memories" ? { query: "boat", ...space } : space;
    return shownIn(await client.call(tool, args)).map(({ content }) => content);
  };
  expect((await contents({})).sort()).toEqual([
    "The boat is blue.",
    "The boat is green.",
    "The boat is mine.",
  ]);
  expect(await contents({ space: "ops" })).toEqual(["The boat is blue."]);
  expect(await contents({ space: "personal" })).toEqual(["The boat is mine."]);
  expect(await contents({ space: acme.id }, "list_memories")).toEqual(["The boat is green."]);
  expect(await contents({}, "list_memories")).toEqual(["The boat is mine."]);

  const unknown = await client.call("search_memories", { query: "boat", space: "acne" });
  expect(unknown).toMatchObject({
    isError: true,
    text: "You are not a member of a space with this name. Yours: acme, ops.",
  });
  const twin = await server.spaces.create(ann.accountId, "acme");
  const doubtful = await client.call("save_memory", { content: "Which?", space: "acme" });
  expect(doubtful.isError).toBe(true);
  for (const id of [acme.id, twin.id]) expect(doubtful.text).toContain(id);
  const reader = await connect("v2 new", bob);
  const refused = await reader.call("save_memory", { content: "No.", space: "acme" });
  expect(refused).toMatchObject({ isError: true, text: expect.stringContaining("may read") });
});

test("who has no space, or is bound to one, can't name another", async () => {
  const { ann, acme } = await team();
  const alone = await connect("v2 new");
  const inside = await connect("v2 new", { ...ann, headers: { "ctxd-space": "acme" } });
  for (const client of [alone, inside]) {
    const refused = await client.call("save_memory", { content: "x", space: "ops" });
    expect(refused).toMatchObject({
      isError: true,
      text: expect.stringContaining("unknown field"),
    });
  }
  const saved = await inside.call("save_memory", { content: "The tent is red." });
  expect(saved.text).toContain("in the space acme");
  const { body } = await ann.send("GET", `/memories?space=${acme.id}`);
  expect(body).toMatchObject({ memories: [{ content: "The tent is red." }] });
});

test("the project of a session that lives in a space decides where memories go", async () => {
  const { ann } = await team();
  const headers = { "ctxd-project": encodeURIComponent("acme/web") };
  const client = await connect("v2 new", { ...ann, headers });
  await ann.send("POST", "/memories?space=ops", { json: { content: "The mast of ops." } });
  const saved = await client.call("save_memory", { content: "The mast is tall." });
  expect(saved.data).toMatchObject({ space: "acme" });
  const found = await client.call("search_memories", { query: "mast" });
  expect(shownIn(found).map(({ content }) => content)).toEqual(["The mast is tall."]);
});

test("the tools of connectors find what is in a space, and say so", async () => {
  const { ann } = await team();
  const client = await connect("v2 new", { ...ann, headers: AS_CONNECTOR });
  const id = await save(client, "The lamp hangs in the hall.", { space: "acme" });
  const { data } = await client.call("search", { query: "lamp" });
  expect(data).toMatchObject({ results: [{ id, space: "acme" }] });
  const fetched = await client.call("fetch", { id });
  expect(fetched.data).toMatchObject({ id, metadata: { space: "acme" } });
});
