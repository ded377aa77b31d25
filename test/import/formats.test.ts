import { expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { temporaryFolder } from "../support/database.ts";
import { contentsOf, readContent, readSource } from "../support/import.ts";

test("the file of the MCP memory server, as the server itself writes it", async () => {
  const path = join(temporaryFolder(), "memory.jsonl");
  const client = new Client({ name: "test", version: "1" });
  const server = Bun.resolveSync(
    "@modelcontextprotocol/server-memory/dist/index.js",
    import.meta.dir,
  );
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [server],
      env: { MEMORY_FILE_PATH: path },
    }),
  );
  const call = (name: string, args: Record<string, unknown>) =>
    client.callTool({ name, arguments: args });
  await call("create_entities", {
    entities: [
      { name: "Ada", entityType: "person", observations: ["keeps bees", "was born in 1815"] },
      { name: "London", entityType: "city", observations: [] },
    ],
  });
  await call("add_observations", {
    observations: [{ entityName: "Ada", contents: ["likes tea"] }],
  });
  await call("create_relations", {
    relations: [{ from: "Ada", to: "London", relationType: "lives_in" }],
  });
  await client.close();

  const read = await readSource(path);
  expect(read.name).toBe("a knowledge graph of the MCP memory server");
  expect(contentsOf(read)).toEqual([
    "Ada: keeps bees",
    "Ada: was born in 1815",
    "Ada: likes tea",
    "London (city)",
    "Ada lives in London",
  ]);
  expect(read.memories[0]).toMatchObject({
    tags: ["person"],
    metadata: { entity: "Ada", entity_type: "person" },
  });
  expect(read.problems).toEqual([]);
});

// https://docs.mem0.ai/api-reference/memory/get-memory
const MEM0 = {
  id: "3c90c3cc-0d44-4b50-8888-8dd25736052a",
  memory: "Likes to play cricket on weekends",
  user_id: "alex",
  agent_id: "coach",
  run_id: "run-7",
  hash: "abc",
  categories: ["hobbies", "sports"],
  metadata: { source: "chat" },
  created_at: "2023-11-07T05:31:56.123456-08:00",
  updated_at: null,
};

test.each([
  ["the answer of get_all", JSON.stringify({ count: 1, next: null, results: [MEM0] }, null, 2)],
  ["a list", JSON.stringify([MEM0])],
  ["one a line", `${JSON.stringify(MEM0)}\n${JSON.stringify(MEM0)}\n`],
])("mem0: %s", async (_, text) => {
  const { name, memories, problems } = await readContent(text);
  expect({ name, problems }).toEqual({ name: "an export of mem0", problems: [] });
  expect(memories[0]).toEqual({
    id: expect.stringMatching(/^mem_[0-9a-f]{12}8[0-9a-f]{3}[89ab][0-9a-f]{15}$/),
    content: "Likes to play cricket on weekends",
    tags: ["hobbies", "sports"],
    agent_id: "coach",
    session_id: "run-7",
    metadata: { source: "chat", user_id: "alex" },
    created_at: "2023-11-07T13:31:56.123Z",
  });
});

test("mem0: results of its TypeScript library", async () => {
  // As mem0ai 3.3.1 wrote it.
  const own = {
    id: "32a59711-e03c-4499-bb8a-09998d3ddadf",
    memory: "Works from Porto",
    hash: "65fb997aeacf734c58632f26402774ea",
    createdAt: "2026-11-21T16:22:46.411Z",
    updatedAt: "2026-11-21T16:22:46.479Z",
    metadata: { source: "chat" },
    user_id: "alex",
    agent_id: "coach",
    run_id: "run-7",
  };
  // Its client for the hosted service renames these, too.
  const { user_id: userId, agent_id: agentId, run_id: runId, ...rest } = own;
  const hosted = { ...rest, userId, agentId, runId };
  for (const entry of [own, hosted]) {
    const { memories } = await readContent(JSON.stringify({ results: [entry] }));
    expect(memories).toEqual([
      expect.objectContaining({
        content: "Works from Porto",
        agent_id: "coach",
        session_id: "run-7",
        metadata: { source: "chat", user_id: "alex" },
        created_at: own.createdAt,
        updated_at: own.updatedAt,
      }),
    ]);
  }
});

test("mem0: a memory that was changed there updates the same memory here", async () => {
  const [before] = (await readContent(JSON.stringify([MEM0]))).memories;
  const changed = { ...MEM0, memory: "Plays chess now", updated_at: "2024-01-01T00:00:00Z" };
  const [after] = (await readContent(JSON.stringify([changed]))).memories;
  expect(after).toMatchObject({
    content: "Plays chess now",
    updated_at: "2024-01-01T00:00:00.000Z",
  });
  expect(after?.id).toBe(before?.id ?? "");
});

test("mcp-memory-service: its JSON export", async () => {
  const entry = {
    content: "Deploys go out on Tuesdays",
    content_hash: "9f86d081884c7d65",
    tags: ["deploy", "source:laptop"],
    created_at: 1_673_545_200.25,
    updated_at: 1_673_545_200.25,
    memory_type: "note",
    metadata: { hostname: "laptop" },
  };
  const text = JSON.stringify({
    export_metadata: { source_machine: "laptop", total_memories: 1, exporter_version: "5.0.1" },
    memories: [entry, { content_hash: "1" }],
  });
  const { name, memories, problems } = await readContent(text);
  expect({ name, problems }).toEqual({
    name: "an export of mcp-memory-service",
    problems: ["entry 2: has no content"],
  });
  expect(memories).toEqual([
    expect.objectContaining({
      content: "Deploys go out on Tuesdays",
      tags: ["deploy", "source:laptop"],
      metadata: { hostname: "laptop", memory_type: "note" },
      created_at: "2023-01-12T17:40:00.250Z",
    }),
  ]);
});

test("a list in JSON, of texts or of objects", async () => {
  expect(contentsOf(await readContent('["one", "two"]'))).toEqual(["one", "two"]);
  const objects = await readContent('{"memories":[{"content":"one","id":"1"},{"text":"two"},3]}');
  expect(contentsOf(objects)).toEqual(["one", "two"]);
  expect(objects.problems).toEqual(["entry 3: has no memory"]);
});
