import { describe, expect, test } from "bun:test";
import { sharedEmbedder } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { AS_CONNECTOR, type McpClient, shownIn } from "../support/mcp.ts";
import { contentsOf, save, startToolServer } from "./support/tool-server.ts";

const { server, connect } = await startToolServer();
const { relate } = sharedEmbedder();
const reading = await startToolServer({ embedder: { ...fakeEmbedder(), relate } });

describe("max_tokens", () => {
  test("limits the results of a search and a list, with a note", async () => {
    const client = await connect();
    for (let n = 0; n < 12; n++) await save(client, `entry ${n} ${'"long" text\n'.repeat(500)}`);
    for (const tool of ["search_memories", "list_memories"]) {
      for (const max_tokens of [200, 500, 2_000, 10_000]) {
        const args = tool === "list_memories" ? {} : { query: "entry" };
        const { text } = await client.call(tool, { ...args, limit: 12, max_tokens });
        expect(text.length).toBeLessThan(4 * max_tokens + 300);
        expect(text.length).toBeGreaterThan(2 * max_tokens);
        expect(text).toContain("are cut: get_memory shows all");
      }
    }
  });

  test("cuts a long memory to the matched passage, wherever it is", async () => {
    const client = await connect();
    const fact = "The spare key lies under the blue flowerpot.";
    for (const before of [0, 100, 600]) {
      const around = (count: number) => "Of this and that we spoke at length. ".repeat(count);
      const id = await save(client, `${around(before)}${fact} ${around(800 - before)}`);
      for (const max_tokens of [300, 2_000]) {
        const args = { query: "where is the spare key?", limit: 1, max_tokens };
        const result = await client.call("search_memories", args);
        const [found] = shownIn(result);
        expect(found?.content).toContain(fact);
        expect(found?.content.startsWith("…")).toBe(before > 0);
        expect(result.text).toContain("get_memory shows all");
      }
      const [message] = await client.prompt("load_context", { task: "find the spare key" });
      expect(JSON.stringify(message)).toContain(fact);
      await client.call("delete_memory", { id });
    }
  });

  test("has a default that keeps results short", async () => {
    const client = await connect();
    for (let n = 0; n < 5; n++) await save(client, "word ".repeat(6_000));
    const { text } = await client.call("search_memories", { query: "word" });
    expect(text.length).toBeLessThan(5 * 1_400);
  });

  test("continues a cut list with the next memory", async () => {
    const client = await connect();
    const all: string[] = [];
    for (let n = 0; n < 15; n++) all.unshift(await save(client, `${n} ${"x".repeat(300)}`));
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await client.call("list_memories", {
        max_tokens: 300,
        ...(cursor !== undefined && { cursor }),
      });
      const shown = shownIn(page);
      expect(shown.length).toBeGreaterThan(0);
      seen.push(...shown.map(({ id }) => id));
      cursor = /cursor (\S+)$/.exec(page.text)?.[1];
    } while (cursor !== undefined);
    expect(seen).toEqual(all);
  });
});

describe("saving", () => {
  test("uses the agent of the connection unless the call names one", async () => {
    const headers = { "ctxd-agent": encodeURIComponent("Planer für Öl") };
    const client = await connect("v2 new", { headers });
    const ids = [await save(client, "a"), await save(client, "b", { agent_id: "other" })];
    const texts = await Promise.all(
      ids.map(async (id) => (await client.call("get_memory", { id })).text),
    );
    expect(texts).toEqual([
      expect.stringContaining("agent: Planer für Öl · "),
      expect.stringContaining("agent: other · "),
    ]);
    const listed = await client.call("list_memories", { agent_id: "Planer für Öl" });
    expect(contentsOf(listed)).toEqual(["a"]);
  });

  test("twice with one idempotency key creates one memory", async () => {
    const client = await connect("v1", { headers: { "idempotency-key": "k" } });
    expect(await save(client, "once")).toBe(await save(client, "once"));
  });

  test("lists similar memories for a key that may read", async () => {
    const { accountId } = await server.account();
    const client = await connect("v2 new", { accountId });
    const id = await save(client, "Sam is allergic to peanuts");
    const same = await client.call("save_memory", { content: "Sam is allergic to peanuts" });
    expect(same).toMatchObject({ data: { id }, text: `Already known, as ${id}.` });
    const again = await client.call("save_memory", { content: "Sam is allergic to peanuts!" });
    const similar = [{ id, title: "Sam is allergic to peanuts", kind: "near" }];
    expect(again.data).toMatchObject({ similar });
    expect(again.text).toContain(id);
    expect(again.text).toContain("delete_memory");
    const writer = await connect("v1", { accountId, scopes: ["memories:write"] });
    const blind = await writer.call("save_memory", { content: "Sam is allergic to peanuts" });
    expect(blind.text).not.toContain(id);
    expect(blind.data).not.toHaveProperty("similar");
    const other = await client.call("save_memory", { content: "Invoices are due on Mondays" });
    expect(other.data).not.toHaveProperty("similar");
  });

  test("keeps all fields", async () => {
    const client = await connect();
    const fields = {
      tags: ["a", "b"],
      agent_id: "planner",
      project: "atlas",
      pinned: true,
      importance: 0.9,
      metadata: { source: { page: 3 } },
    };
    const id = await save(client, "x", fields);
    const { text } = await client.call("get_memory", { id });
    for (const said of ["tags: a, b", "agent: planner", "importance 0.9", "\n  x\n"]) {
      expect(text).toContain(said);
    }
    expect(text).toEndWith('metadata: {"source":{"page":3}}');
  });
});

test("search and fetch return the fields that connectors require", async () => {
  const client = await connect("v1", { headers: AS_CONNECTOR });
  const id = await save(client, `Invoices are due on Mondays\n${"more ".repeat(5_000)}`);
  const { text, data } = await client.call("search", { query: "invoices" });
  expect(JSON.parse(text)).toEqual(data);
  const url = `http://localhost:7733/api/memories/${id}`;
  const title = "Invoices are due on Mondays";
  expect(data).toEqual({ results: [{ id, title, text: title, url }] });
  const document = await client.call("fetch", { id });
  expect(JSON.parse(document.text)).toEqual(document.data);
  expect(document.data).toMatchObject({ id, url, title: "Invoices are due on Mondays" });
  expect(String(document.data.text).length).toBeGreaterThan(25_000);
});

test("filters limit a search and a list", async () => {
  const { accountId } = await server.account();
  const [client, other] = await Promise.all(
    ["s-1", "s-2"].map((id) => connect("v2 new", { accountId, headers: { "mcp-session-id": id } })),
  );
  if (!client || !other) throw new Error("there are two clients");
  await save(client, "red apple", { tags: ["fruit"] });
  await save(other, "red car", { tags: ["thing"] });
  for (const filter of [{ tags: ["fruit"] }, { session_id: "s-1" }]) {
    const found = await client.call("search_memories", { query: "red", ...filter });
    expect(contentsOf(found)).toEqual(["red apple"]);
    expect(contentsOf(await client.call("list_memories", filter))).toEqual(["red apple"]);
  }
  const later = { created_after: "2026-01-02" };
  expect(contentsOf(await client.call("list_memories", later))).toEqual([]);
});

test("a search without a match says that nothing is known", async () => {
  const client = await connect("v2 new", { headers: AS_CONNECTOR });
  await save(client, "The spare key lies under the blue flowerpot");
  const { text } = await client.call("search_memories", { query: "zzzz" });
  expect(text).toBe("Nothing is known about that.");
  expect((await client.call("search", { query: "zzzz" })).data).toEqual({ results: [] });
});

test("an older version of a fact names the newer memory", async () => {
  // A search waits for five seconds, and the model's first start may take longer.
  await relate("one", "two");
  const client = await reading.connect();
  await save(client, "The wifi password of the guests is tulip-garden");
  reading.server.clock.advance(86_400_000);
  const id = await save(client, "The wifi password of the guests is now harbour-lamp");
  const found = await client.call("search_memories", { query: "wifi password of the guests" });
  expect(contentsOf(found)[0]).toContain("harbour-lamp");
  expect(found.text).toContain(`there is a newer one: ${id}`);
});

test("recall_context returns what matters, each memory once", async () => {
  const { accountId } = await server.account();
  const client = await connect("v2 new", { accountId });
  const begin = async (from: McpClient, task?: string) => {
    const { text } = await from.call("recall_context", task === undefined ? {} : { task });
    return text.match(/mem_[0-9a-f]{32}/g) ?? text;
  };
  expect(await begin(client, "mend the router")).toBe("Nothing is known about that.");
  const router = await save(client, "The router of the shed stands behind the bookshelf", {
    project: "shed",
  });
  // Here meaning is not understood: the tag says that it is about how to work.
  const liking = await save(client, "The user prefers to work with short answers", {
    tags: ["preference"],
  });
  const pinned = await save(client, "Invoices are due on Mondays", { pinned: true });
  const begun = await begin(client, "mend the router");
  expect(begun[0]).toBe(router);
  expect([...begun].sort()).toEqual([router, liking, pinned].sort());
  expect((await client.call("recall_context")).text).toContain("(shed, ");

  const shed = await connect("v1", { accountId, headers: { "ctxd-project": "shed" } });
  expect(new Set(await begin(shed))).toEqual(new Set([router, pinned, liking]));
  expect((await shed.call("recall_context")).text).not.toContain("(shed, ");
  const other = await connect("v2 old", { accountId, headers: { "ctxd-project": "house" } });
  expect(new Set(await begin(other, "mend the router"))).toEqual(new Set([pinned, liking]));
});

test("captured turns are found, and listed by session only", async () => {
  const account = await server.account();
  const client = await connect("v2 new", { accountId: account.accountId });
  await save(client, "The user prefers tea");
  const captured = await account.send("POST", "/memories/capture", {
    json: {
      ...{ agent: "claude-code", session_id: "s-1" },
      turns: [{ role: "user", content: "Let us drink oolong tea today" }],
    },
  });
  expect(captured.status).toBe(200);
  expect(contentsOf(await client.call("list_memories"))).toEqual(["The user prefers tea"]);
  expect(await client.resources()).toHaveLength(4);
  const said = await client.call("list_memories", { session_id: "s-1" });
  expect(said.text).toContain("oolong");
  const found = await client.call("search_memories", { query: "oolong tea" });
  expect(found.text).toContain("oolong");
  expect(found.text).toContain("captured by ");
});

test("a client without a project may name any project, a client with one only its own", async () => {
  const { accountId } = await server.account();
  const client = await connect("v2 new", { accountId });
  await save(client, "the mast of atlas", { project: "atlas" });
  await save(client, "the mast of boreas", { project: "boreas" });
  await save(client, "a mast is tall");
  const boreas = await connect("v1", { accountId, headers: { "ctxd-project": "boreas" } });
  for (const tool of ["search_memories", "list_memories"]) {
    const args = { project: "atlas", ...(tool === "search_memories" && { query: "mast" }) };
    const found = contentsOf(await client.call(tool, args));
    expect(found.toSorted()).toEqual(["a mast is tall", "the mast of atlas"]);
    const refused = await boreas.call(tool, args);
    expect(refused).toMatchObject({
      isError: true,
      text: "This conversation is limited to the project boreas.",
    });
    const own = contentsOf(await boreas.call(tool, { ...args, project: "boreas" }));
    expect(own.toSorted()).toEqual(["a mast is tall", "the mast of boreas"]);
  }
});
