import { describe, expect, test } from "bun:test";
import { AS_CONNECTOR, CLIENTS, shownIn } from "../support/mcp.ts";
import { outcomeOf } from "../support/outcome.ts";
import { contentsOf, save, startToolServer } from "./support/tool-server.ts";

const { server, connect } = await startToolServer();

const READING = ["recall_context", "search_memories", "list_memories", "get_memory"];
const CONNECTING = ["search", "fetch"];
const WRITING = ["save_memory", "update_memory", "delete_memory"];
const UNKNOWN = "mem_00000000000000000000000000000000";

describe.each(CLIENTS)("a client of the kind %s", (name) => {
  test("saves, finds, changes and deletes a memory", async () => {
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

  test("supersedes a memory, which searches no longer find", async () => {
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

  test("receives instructions that name the tools, the first sentence when to use them", async () => {
    const instructions = (await connect(name)).instructions();
    for (const tool of ["update_memory", "delete_memory"]) expect(instructions).toContain(tool);
    expect(Buffer.byteLength(instructions)).toBeLessThan(2_048);
    const [first = ""] = instructions.split(/(?<=\.)\s/);
    for (const word of ["memory", "recall_context", "search_memories", "save_memory"]) {
      expect(first).toContain(word);
    }
    for (const when of ["conversation begins", "before you answer", "asks you to remember"]) {
      expect(first).toContain(when);
    }
  });

  test("reads memories as resources, and loads context with a prompt", async () => {
    const client = await connect(name);
    const id = await save(client, "The router stands behind the bookshelf\nsince May");
    const resources = await client.resources();
    expect(resources).toMatchObject([
      { uri: "memory://recent" },
      { uri: "memory://distill", title: "The prompt distill" },
      { uri: "memory://tidy" },
      { uri: `memory://${id}`, title: "The router stands behind the bookshelf" },
    ]);
    for (const { uri } of resources) {
      expect(await client.read(uri)).toMatchObject([{ uri, mimeType: "text/plain" }]);
      if (/distill|tidy/.test(uri)) continue;
      expect(JSON.stringify(await client.read(uri))).toContain("since May");
    }
    expect(await outcomeOf(client.read(`memory://${UNKNOWN}`))).toThrow("No memory");
    const prompts = (await client.prompts()).map((prompt) => prompt.name);
    expect(prompts).toEqual(["load_context", "distill", "tidy"]);
    const [message] = await client.prompt("load_context", { task: "mend the router" });
    expect(JSON.stringify(message)).toContain("behind the bookshelf");
    expect(JSON.stringify(message)).toContain("mend the router");
  });
});

describe("the list of tools", () => {
  test("is short and complete for every client", async () => {
    for (const name of CLIENTS) {
      const client = await connect(name);
      const tools = await client.tools();
      expect(tools.map((tool) => tool.name)).toEqual([...READING, ...WRITING]);
      expect(JSON.stringify({ tools }).length).toBeLessThan(5_000);
      for (const tool of tools) {
        expect(tool).toMatchObject({
          title: expect.stringMatching(/./),
          // The words by which a model looks for tools that it is not shown.
          description: expect.stringMatching(/^(Recall|Remember|Memory|Memories|Forget) .{20}/),
          inputSchema: { type: "object", additionalProperties: false },
          annotations: {
            readOnlyHint: READING.includes(tool.name),
            openWorldHint: false,
            ...(WRITING.includes(tool.name) && { destructiveHint: tool.name !== "save_memory" }),
          },
        });
        // Reading tools return text only, so that clients that show text and data show it once.
        expect(tool.outputSchema === undefined).toBe(READING.includes(tool.name));
      }
    }
  });

  test("contains search and fetch for connectors only", async () => {
    for (const name of CLIENTS) {
      const client = await connect(name, { headers: AS_CONNECTOR });
      const tools = await client.tools();
      expect(tools.map((tool) => tool.name)).toEqual([...READING, ...WRITING, ...CONNECTING]);
      expect(JSON.stringify({ tools }).length).toBeLessThan(5_000);
      const other = await connect(name);
      expect(await outcomeOf(other.call("search", { query: "x" }))).toThrow("not found");
    }
  });

  test("contains only reading tools for a key that may read, and other tools are refused", async () => {
    const ada = await server.account();
    const { id } = await ada.save({ content: "known" });
    for (const name of CLIENTS) {
      const client = await connect(name, {
        accountId: ada.accountId,
        scopes: ["memories:read"],
      });
      expect((await client.tools()).map((tool) => tool.name)).toEqual(READING);
      expect(client.instructions()).not.toMatch(/delete_memory|save_memory|remember/i);
      expect(await outcomeOf(client.call("save_memory", { content: "x" }))).toThrow("not found");
      expect(await outcomeOf(client.call("update_memory", { id, content: "x" }))).toThrow(
        "not found",
      );
      expect(await outcomeOf(client.call("delete_memory", { id }))).toThrow("not found");
      expect((await client.call("get_memory", { id })).text).toEndWith("\n  known");
    }
    expect((await ada.list()).memories).toMatchObject([{ id, content: "known" }]);
  });

  test("contains only writing tools for a key that may not read", async () => {
    const client = await connect("v1", { scopes: ["memories:write"] });
    expect(client.instructions()).not.toMatch(/recall_context|recall what/);
    expect((await client.tools()).map((tool) => tool.name)).toEqual(WRITING);
    expect(await outcomeOf(client.resources())).toThrow();
    expect(await outcomeOf(client.prompts())).toThrow();
  });
});

describe("errors say what to do", () => {
  test("when a memory does not exist or belongs to another account", async () => {
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
  ])("when the input is invalid: %s", async (reason, tool, args) => {
    const { isError, text } = await (await connect()).call(tool, args);
    expect(isError).toBe(true);
    expect(text).toContain(reason);
    expect(text).not.toMatch(/\bat .*:\d+:\d+/);
  });
});
