import { afterAll, describe, expect, test } from "bun:test";
import { SCOPES, type Scope } from "../../src/keys/scopes.ts";
import {
  AS_CONNECTOR,
  CLIENTS,
  type ClientName,
  connectHttp,
  type McpClient,
  type Result,
  shownIn,
} from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
const open: McpClient[] = [];
afterAll(async () => {
  await Promise.all(open.map((client) => client.close()));
  await server.close();
});

const READING = ["recall_context", "search_memories", "list_memories", "get_memory"];
const CONNECTING = ["search", "fetch"];
const WRITING = ["save_memory", "update_memory", "delete_memory"];
const UNKNOWN = "mem_00000000000000000000000000000000";

/** A client of a new account, or of one that is there. */
async function connect(
  name: ClientName = "v2 new",
  {
    scopes = SCOPES,
    accountId,
    headers = {},
  }: { scopes?: readonly Scope[]; accountId?: string; headers?: Record<string, string> } = {},
) {
  const http = accountId ? await server.client(accountId, scopes) : await server.account(scopes);
  const client = await connectHttp(name, server.origin, {
    authorization: `Bearer ${http.key}`,
    ...headers,
  });
  open.push(client);
  return client;
}

async function save(client: McpClient, content: string, more: Record<string, unknown> = {}) {
  const { data, isError, text } = await client.call("save_memory", { content, ...more });
  expect({ text, isError }).toMatchObject({ isError: false });
  return String(data.id);
}

function contentsOf(result: Result): string[] {
  return shownIn(result).map(({ content }) => content);
}

describe.each(CLIENTS)("a client of the kind %s", (name) => {
  test("saves, finds, changes, finds, deletes and finds no more", async () => {
    const client = await connect(name);
    const id = await save(client, "Sam is allergic to peanuts", { tags: ["food"] });
    const found = await client.call("search_memories", { query: "peanuts" });
    expect(shownIn(found)).toMatchObject([{ id, content: "Sam is allergic to peanuts" }]);
    expect(found.text).toContain("1 Jan 2026 · tags: food");

    const content = "Sam is allergic to peanuts and shellfish";
    const updated = await client.call("update_memory", { id, content });
    expect(updated).toMatchObject({ isError: false, text: `Updated ${id}.` });
    expect(contentsOf(await client.call("search_memories", { query: "peanuts" }))).toEqual([
      content,
    ]);
    expect((await client.call("get_memory", { id })).text).toContain("tags: food");

    expect((await client.call("delete_memory", { id })).data).toEqual({ id, deleted: true });
    const none = await client.call("search_memories", { query: "peanuts" });
    expect(none.text).toBe("Nothing is known about that.");
  });

  test("saves what has changed beside what was true, which it finds no more", async () => {
    const client = await connect(name);
    const former = await save(client, "The spare key lies under the flowerpot");
    const id = await save(client, "The spare key hangs in the shed", { supersedes: former });
    const found = await client.call("search_memories", { query: "spare key" });
    expect(shownIn(found)).toMatchObject([{ id, content: "The spare key hangs in the shed" }]);
    expect(found.text).toContain(`supersedes ${former}`);
    const old = await client.call("get_memory", { id: former });
    expect(old.text).toContain(`superseded by ${id}`);
    const late = { content: "The spare key is lost", supersedes: former };
    const { isError, text } = await client.call("save_memory", late);
    expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining(id) });
  });

  test("is told how to keep good memories", async () => {
    const client = await connect(name);
    for (const tool of ["search_memories", "update_memory", "delete_memory"]) {
      expect(client.instructions()).toContain(tool);
    }
  });

  test("reads memories as resources, and loads context by a prompt", async () => {
    const client = await connect(name);
    const id = await save(client, "The router stands behind the bookshelf\nsince May");
    const resources = await client.resources();
    expect(resources).toMatchObject([
      { uri: "memory://recent" },
      { uri: `memory://${id}`, title: "The router stands behind the bookshelf" },
    ]);
    for (const { uri } of resources) {
      expect(await client.read(uri)).toMatchObject([{ uri, mimeType: "text/plain" }]);
      expect(JSON.stringify(await client.read(uri))).toContain("since May");
    }
    await expect(client.read(`memory://${UNKNOWN}`)).rejects.toThrow("No memory");
    expect(await client.prompts()).toMatchObject([{ name: "load_context" }]);
    const [message] = await client.prompt("load_context", { task: "mend the router" });
    expect(JSON.stringify(message)).toContain("behind the bookshelf");
    expect(JSON.stringify(message)).toContain("mend the router");
  });
});

describe("the list of tools", () => {
  test("is short, the same every time, and complete", async () => {
    for (const name of CLIENTS) {
      const client = await connect(name);
      const tools = await client.tools();
      expect(tools.map((tool) => tool.name)).toEqual([...READING, ...WRITING]);
      expect(JSON.stringify({ tools }).length).toBeLessThan(5_000);
      for (const tool of tools) {
        expect(tool).toMatchObject({
          title: expect.stringMatching(/./),
          description: expect.stringMatching(/.{20}/),
          inputSchema: { type: "object", additionalProperties: false },
          annotations: {
            readOnlyHint: READING.includes(tool.name),
            openWorldHint: false,
            ...(WRITING.includes(tool.name) && { destructiveHint: tool.name !== "save_memory" }),
          },
        });
        // What is read is shown once, whichever of the two a client shows: as text alone.
        expect(tool.outputSchema === undefined).toBe(READING.includes(tool.name));
      }
    }
  });

  test("has what connectors look for, for those alone", async () => {
    for (const name of CLIENTS) {
      const client = await connect(name, { headers: AS_CONNECTOR });
      const tools = await client.tools();
      expect(tools.map((tool) => tool.name)).toEqual([...READING, ...WRITING, ...CONNECTING]);
      expect(JSON.stringify({ tools }).length).toBeLessThan(5_000);
      const other = await connect(name);
      await expect(other.call("search", { query: "x" })).rejects.toThrow("not found");
    }
  });

  test("of a key for reading has what reads, and the rest is refused", async () => {
    const ada = await server.account();
    const { id } = await ada.save({ content: "known" });
    for (const name of CLIENTS) {
      const client = await connect(name, {
        accountId: ada.accountId,
        scopes: ["memories:read"],
      });
      expect((await client.tools()).map((tool) => tool.name)).toEqual(READING);
      expect(client.instructions()).not.toContain("delete_memory");
      await expect(client.call("save_memory", { content: "x" })).rejects.toThrow("not found");
      await expect(client.call("update_memory", { id, content: "x" })).rejects.toThrow("not found");
      await expect(client.call("delete_memory", { id })).rejects.toThrow("not found");
      expect((await client.call("get_memory", { id })).text).toEndWith("\nknown");
    }
    expect((await ada.list()).memories).toMatchObject([{ id, content: "known" }]);
  });

  test("of a key for writing alone shows no memories", async () => {
    const client = await connect("v1", { scopes: ["memories:write"] });
    expect((await client.tools()).map((tool) => tool.name)).toEqual(WRITING);
    await expect(client.resources()).rejects.toThrow();
    await expect(client.prompts()).rejects.toThrow();
  });
});

describe("errors say what to do", () => {
  test("when there is no such memory, also when it is another account's", async () => {
    const bob = await server.account();
    const { id } = await bob.save({ content: "secret of Bob" });
    const client = await connect("v2 new", { headers: AS_CONNECTOR });
    for (const each of [id, UNKNOWN, "nonsense"]) {
      for (const tool of ["get_memory", "delete_memory", "fetch"]) {
        const { isError, text } = await client.call(tool, { id: each });
        expect(isError).toBe(true);
        expect(text).toMatch(/^No memory with .* Search first/);
      }
      const { isError } = await client.call("update_memory", { id: each, content: "mine" });
      expect(isError).toBe(true);
    }
    expect((await bob.get(id)).content).toBe("secret of Bob");
    for (const tool of ["search_memories", "search"]) {
      expect((await client.call(tool, { query: "secret of Bob" })).text).not.toContain(id);
    }
    expect((await client.call("list_memories")).text).toBe("There are no memories here.");
  });

  test.each([
    ["content is required", "save_memory", {}],
    ["only white space", "save_memory", { content: "  " }],
    ["at most 32768 characters", "save_memory", { content: "x".repeat(32_769) }],
    ["comma", "save_memory", { content: "x", tags: ["a,b"] }],
    ["from 0 to 1", "save_memory", { content: "x", importance: 2 }],
    ["unknown field", "save_memory", { content: "x", colour: "red" }],
    ["from 1 to 100", "search_memories", { query: "x", limit: 101 }],
    ["such as 2026-11-21", "search_memories", { query: "x", created_after: "yesterday" }],
    ["from 200 to", "search_memories", { query: "x", max_tokens: 1 }],
    ["cursor", "list_memories", { cursor: "nonsense" }],
    ["at least", "update_memory", { id: UNKNOWN }],
  ])("when the input is wrong: %s", async (reason, tool, args) => {
    const { isError, text } = await (await connect()).call(tool, args);
    expect(isError).toBe(true);
    expect(text).toContain(reason);
    expect(text).not.toMatch(/\bat .*:\d+:\d+/);
  });
});

describe("max_tokens", () => {
  test("bounds what a search and a list answer, and says so", async () => {
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

  test("leaves of a long memory what made it match, wherever it stands", async () => {
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

  test("by default floods no conversation", async () => {
    const client = await connect();
    for (let n = 0; n < 5; n++) await save(client, "word ".repeat(6_000));
    const { text } = await client.call("search_memories", { query: "word" });
    expect(text.length).toBeLessThan(5 * 1_400);
  });

  test("has a list go on where it was cut: nothing is passed over", async () => {
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
  test("takes the agent of the connection where the call names none", async () => {
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

  test("twice with one idempotency key makes one memory", async () => {
    const client = await connect("v1", { headers: { "idempotency-key": "k" } });
    expect(await save(client, "once")).toBe(await save(client, "once"));
  });

  test("tells what is known already, to who may read it", async () => {
    const { accountId } = await server.account();
    const client = await connect("v2 new", { accountId });
    const id = await save(client, "Sam is allergic to peanuts");
    const same = await client.call("save_memory", { content: "Sam is allergic to peanuts" });
    expect(same).toMatchObject({ data: { id }, text: `Already known, as ${id}.` });
    const again = await client.call("save_memory", { content: "Sam is allergic to peanuts!" });
    const similar = [{ id, title: "Sam is allergic to peanuts", kind: "near" }];
    expect(again.data).toMatchObject({ similar });
    expect(again.text).toContain(id);
    expect(again.text).toContain("supersedes");
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
    for (const said of ["tags: a, b", "agent: planner", "importance 0.9", "\nx\n"]) {
      expect(text).toContain(said);
    }
    expect(text).toEndWith('metadata: {"source":{"page":3}}');
  });
});

test("search and fetch have the shape that connectors ask for", async () => {
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

test("filters narrow a search and a list", async () => {
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

test("a search says that nothing is known instead of showing what is nearest", async () => {
  const client = await connect("v2 new", { headers: AS_CONNECTOR });
  await save(client, "The spare key lies under the blue flowerpot");
  const { text } = await client.call("search_memories", { query: "zzzz" });
  expect(text).toBe("Nothing is known about that.");
  expect((await client.call("search", { query: "zzzz" })).data).toEqual({ results: [] });
});

test("an older version of a fact says which memory is newer", async () => {
  const client = await connect();
  await save(client, "The wifi password of the guests is tulip-garden");
  server.clock.advance(86_400_000);
  const id = await save(client, "The wifi password of the guests is now harbour-lamp");
  const found = await client.call("search_memories", { query: "wifi password of the guests" });
  expect(contentsOf(found)[0]).toContain("harbour-lamp");
  expect(found.text).toContain(`there is a newer one: ${id}`);
});

test("a conversation begins with what matters, each memory once", async () => {
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
  const liking = await save(client, "The user prefers to work with short answers");
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

test("what was captured is found, and listed by its session alone", async () => {
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
  expect(await client.resources()).toHaveLength(2);
  const said = await client.call("list_memories", { session_id: "s-1" });
  expect(said.text).toContain("oolong");
  const found = await client.call("search_memories", { query: "oolong tea" });
  expect(found.text).toContain("oolong");
  expect(found.text).toContain("captured by ");
});

test("who works on no project may ask for one, and who works on one for no other", async () => {
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
