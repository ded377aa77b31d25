import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
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

test("mem0: what its TypeScript library gives", async () => {
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

test("mem0: a memory that was changed there is the same one here", async () => {
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

// https://docs.basicmemory.com/concepts/knowledge-format
const NOTE = `---
title: Coffee Brewing Methods
type: note
tags: [coffee, brewing]
permalink: coffee-brewing-methods
created: 2024-03-01
---

# Coffee Brewing Methods

An overview of what
I have tried.

## Observations
- [method] Pour over provides more clarity #technique
- [preference] Ethiopian beans (personal experience)
- [x] buy filters
- [a link](https://example.com)

## Relations
- relates_to [[Coffee Bean Origins]]
- contrasts_with [[Tea]] (mostly)
`;

test("basic-memory: a folder of notes", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "coffee"));
  mkdirSync(join(folder, ".obsidian"));
  writeFileSync(join(folder, "coffee", "brewing.md"), NOTE);
  writeFileSync(join(folder, "coffee", "photo.jpg"), "JFIF");
  writeFileSync(join(folder, ".obsidian", "workspace.md"), "not a note");
  const elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere, "secret.md"), "Nobody's business.");
  symlinkSync(elsewhere, join(folder, "linked"));
  symlinkSync(join(elsewhere, "secret.md"), join(folder, "linked.md"));
  writeFileSync(join(folder, "zoo.md"), "---\ntitle: [unclosed\n---\nThe zoo opens at nine.\r\n");
  const read = await readSource(folder);
  expect(contentsOf(read)).toEqual([
    "Coffee Brewing Methods: An overview of what\nI have tried.",
    "Coffee Brewing Methods: Pour over provides more clarity #technique",
    "Coffee Brewing Methods: Ethiopian beans (personal experience)",
    "Coffee Brewing Methods › Observations: [x] buy filters",
    "Coffee Brewing Methods › Observations: [a link](https://example.com)",
    "Coffee Brewing Methods relates to Coffee Bean Origins",
    "Coffee Brewing Methods contrasts with Tea (mostly)",
    "zoo: The zoo opens at nine.",
  ]);
  expect(read.places.slice(0, 2)).toEqual([
    "coffee/brewing.md, line 11",
    "coffee/brewing.md, line 15",
  ]);
  expect(read.memories[1]).toMatchObject({
    tags: ["coffee", "brewing", "method", "technique"],
    metadata: { note: "coffee-brewing-methods", type: "note", category: "method" },
    created_at: "2024-03-01T00:00:00.000Z",
  });
  expect(read.problems).toEqual(["zoo.md, line 1: has frontmatter that is not YAML"]);
  expect(read.leftOut).toEqual(["files of other kinds (.jpg): 1"]);
});

test("lists with dates, as assistants answer the question for all they know", async () => {
  const read = await readContent(
    "Here is what I know:\n\n```\n[2025-04-01] - User has a cat named Tom.\n[unknown] - Prefers short answers\n  and no emoji.\n- [June 3, 2024] – Works in TypeScript.\n```\n\nThat is the complete set.\n",
  );
  expect(read.name).toBe("a list of memories with dates");
  expect(read.memories.map(({ content, created_at }) => [content, created_at])).toEqual([
    ["Here is what I know:", undefined],
    ["User has a cat named Tom.", "2025-04-01T00:00:00.000Z"],
    ["Prefers short answers\nand no emoji.", undefined],
    ["Works in TypeScript.", "2024-06-03T00:00:00.000Z"],
    ["That is the complete set.", undefined],
  ]);
});

test("lists with a memory a line, as they are copied from ChatGPT's settings", async () => {
  const read = await readContent(
    "Has a cat named Tom.\nPrefers metric units.\nIs learning Welsh.\n",
  );
  expect(contentsOf(read)).toEqual([
    "Has a cat named Tom.",
    "Prefers metric units.",
    "Is learning Welsh.",
  ]);
});

test("Claude's data export", async () => {
  const text = JSON.stringify([
    {
      conversations_memory: "**Work context**\n\nAda leads a team.\n\n**Personal**\n\n- Keeps bees",
      project_memories: { "0198-aa": "The garden project ends in May." },
      account_uuid: "b7",
    },
  ]);
  const { name, memories } = await readContent(text);
  expect(name).toBe("the memories of Claude's data export");
  expect(memories).toMatchObject([
    { content: "Work context: Ada leads a team.", tags: ["Work context"] },
    { content: "Personal: Keeps bees", tags: ["Personal"] },
    { content: "The garden project ends in May.", metadata: { project: "0198-aa" } },
  ]);
});

test("Markdown: paragraphs, list items and code, each with the headings above it", async () => {
  const read = await readContent(
    "Intro, first\nparagraph.\n\n# Atlas\n\n## Decisions\n1. We use\n   Bun\n2. None\n\n* * *\n```sh\nmake\n\nmake install\n```\n### Later ##\nShip it.\n## Risks\n- None\n# Setup, part 1\n- Install it\n## Empty\n",
    "a.md",
  );
  expect(read.memories.map(({ content, tags }) => [content, tags])).toEqual([
    ["Intro, first\nparagraph.", undefined],
    ["Atlas › Decisions: We use\nBun", ["Decisions"]],
    ["Atlas › Decisions: None", ["Decisions"]],
    ["Atlas › Decisions:\n```sh\nmake\n\nmake install\n```", ["Decisions"]],
    ["Atlas › Decisions › Later: Ship it.", ["Later"]],
    ["Atlas › Risks: None", ["Risks"]],
    ["Setup, part 1: Install it", ["Setup", "part 1"]],
  ]);
  // The same words below another heading are another memory.
  expect(new Set(read.memories.map(({ id }) => id)).size).toBe(7);
});

test("a long text says its subject in each part", async () => {
  const { memories } = await readContent(`# Novel\n\n${"word ".repeat(20_000)}`, "a.md");
  expect(memories.length).toBeGreaterThan(3);
  expect(memories.every(({ content }) => content.startsWith("Novel: word "))).toBe(true);
  expect(memories.every(({ content }) => content.length <= 32_768)).toBe(true);
});

test("notes have the ids that earlier versions gave them, by which they did not know their subject", async () => {
  const folder = temporaryFolder();
  const note =
    "---\ntitle: Coffee\npermalink: coffee\n---\n# Coffee Brewing\n\nAn overview.\n\n- [method] Pour over #technique\n- relates_to [[Beans]]\n";
  writeFileSync(join(folder, "brewing.md"), note);
  writeFileSync(join(folder, "zoo.md"), "# Zoo\n\nOpens at nine.\n\n- [hours] Closed on Monday\n");
  const { memories } = await readSource(folder);
  expect(memories.map(({ id, content }) => [id, content])).toEqual([
    ["mem_cd4869f7043489db95c4200deeaac42b", "Coffee › Coffee Brewing: An overview."],
    ["mem_239f41a2cea6873ab9e4d77a7e213e20", "Coffee: Pour over #technique"],
    ["mem_9f5236bff1e88d259d52244d92e3c506", "Coffee relates to Beans"],
    ["mem_a8357e536eda8dc2bdcceb5c49698174", "Zoo: Opens at nine."],
    ["mem_3d514e551fa6840fadb387dc3304016b", "Zoo: Closed on Monday"],
  ]);
  const text = await readContent("# Food\n- Likes tea\n", "list.md");
  expect(text.memories).toMatchObject([
    { id: "mem_8155e97e0cce89aba8d5fcbdfb67158f", content: "Food: Likes tea" },
  ]);
});

test("a list in JSON, of texts or of objects", async () => {
  expect(contentsOf(await readContent('["one", "two"]'))).toEqual(["one", "two"]);
  const objects = await readContent('{"memories":[{"content":"one","id":"1"},{"text":"two"},3]}');
  expect(contentsOf(objects)).toEqual(["one", "two"]);
  expect(objects.problems).toEqual(["entry 3: has no memory"]);
});
