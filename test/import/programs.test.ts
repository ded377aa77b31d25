import { expect, test } from "bun:test";
import { contentsOf, readContent } from "../support/import.ts";

// https://supermemory.ai/docs/api-reference/memories
test("Supermemory: its documents, and its memories without former and forgotten ones", async () => {
  const documents = await readContent(
    JSON.stringify({
      memories: [
        {
          id: "doc_acxV5LHMEsG2hMSNb4umbn",
          customId: "notes-1",
          title: "Bees",
          content: "Sam keeps bees.",
          summary: "About bees",
          containerTags: ["user_123", "project_garden"],
          metadata: { category: "hobby" },
          type: "text",
          url: null,
          createdAt: "2026-01-02T03:04:05.000Z",
          updatedAt: "2026-01-03T03:04:05.000Z",
        },
        { id: "doc_2", title: null, summary: "Only a summary", containerTags: [] },
        { id: "doc_3", title: "Image", containerTags: [] },
      ],
      pagination: { currentPage: 1, limit: 10, totalItems: 3, totalPages: 1 },
    }),
  );
  expect(documents.name).toBe("an export of Supermemory");
  expect(documents.memories[0]).toMatchObject({
    content: "Bees: Sam keeps bees.",
    tags: ["user_123", "project_garden"],
    metadata: { category: "hobby", type: "text", custom_id: "notes-1" },
    created_at: "2026-01-02T03:04:05.000Z",
    updated_at: "2026-01-03T03:04:05.000Z",
  });
  expect(contentsOf(documents)[1]).toBe("Only a summary");
  expect(documents.problems).toEqual(["entry 3: has no text: ask for the contents too"]);
  const entry = {
    isLatest: true,
    isForgotten: false,
    version: 2,
    createdAt: "2026-01-02T00:00:00Z",
  };
  const entries = await readContent(
    JSON.stringify({
      memoryEntries: [
        { ...entry, id: "a", memory: "Sam lives in Porto." },
        { ...entry, id: "b", memory: "Sam lives in Leeds.", isLatest: false },
        { ...entry, id: "c", memory: "Sam is ill.", isForgotten: true },
      ],
    }),
  );
  expect(contentsOf(entries)).toEqual(["Sam lives in Porto."]);
  expect(entries.leftOut).toEqual([
    "former versions of memories: 1",
    "memories that were forgotten there: 1",
  ]);
});

// https://help.getzep.com/sdk-reference/graph/edge/list
test("Zep: facts with the time for which they held, and messages by thread", async () => {
  const edge = {
    uuid: "7f2c0a34-0000-4000-8000-000000000001",
    name: "WORKS_AT",
    fact: "Sam works at Acme",
    created_at: "2025-10-02T00:00:00Z",
    valid_at: "2025-10-01T00:00:00Z",
    source_node_uuid: "n1",
    target_node_uuid: "n2",
    source_node_name: "Sam",
    episodes: ["e1"],
  };
  const former = {
    ...edge,
    uuid: "2",
    fact: "Sam works at Globex",
    invalid_at: "2025-10-01T00:00:00Z",
  };
  for (const text of [JSON.stringify([edge, former]), JSON.stringify({ edges: [edge, former] })]) {
    const { name, memories } = await readContent(text);
    expect(name).toBe("an export of Zep");
    expect(memories).toMatchObject([
      { content: "Sam works at Acme", tags: ["works at"], created_at: "2025-10-01T00:00:00.000Z" },
      {
        content: "Sam works at Globex (until 2025-10-01)",
        metadata: { from: "Sam", invalid_at: "2025-10-01T00:00:00Z" },
      },
    ]);
  }
  const message = { role_type: "user", role: "Sam", created_at: "2025-10-02T00:00:00Z" };
  const thread = await readContent(
    JSON.stringify({
      episodes: [
        { ...message, uuid: "1", content: "I moved.", thread_id: "t-1", source: "message" },
        { ...message, uuid: "2", content: "{}", role_type: "tool", thread_id: "t-1" },
        { uuid: "3", content: "Sam's CV", role_type: "norole", source: "text" },
      ],
    }),
  );
  expect(thread.memories).toMatchObject([
    { content: "User: I moved.", session_id: "t-1", metadata: { role: "user", speaker: "Sam" } },
    { content: "Sam's CV" },
  ]);
  expect(thread.leftOut).toEqual(["messages of tools and of the system: 1"]);
});

// letta/schemas/agent_file.py in letta-ai/letta
const LETTA_MESSAGES = [
  { id: "message-0", role: "system", content: "You are Letta." },
  {
    id: "message-1",
    role: "user",
    content: [
      { type: "text", text: '{"type": "user_message", "message": "I like tea.", "time": "now"}' },
    ],
    created_at: "2026-01-01T00:00:00Z",
  },
  {
    id: "message-2",
    role: "assistant",
    content: [{ type: "text", text: "He likes tea, I should say so." }],
    tool_calls: [{ function: { name: "send_message", arguments: '{"message": "Noted: tea."}' } }],
    created_at: "2026-01-01T00:00:01Z",
  },
  { id: "message-3", role: "user", content: '{"type": "heartbeat", "reason": "timer"}' },
  { id: "message-4", role: "tool", content: "ok", tool_call_id: "1" },
];
const LETTA_BLOCK = { id: "block-0", label: "human", value: "Name: Sam\nKeeps bees", limit: 5_000 };

test("Letta: an agent file of today, one of before, and archival memory", async () => {
  const agent = {
    id: "agent-0",
    name: "gardener",
    agent_type: "memgpt_v2_agent",
    block_ids: ["block-0"],
  };
  const today = {
    agents: [{ ...agent, messages: LETTA_MESSAGES }],
    blocks: [LETTA_BLOCK],
    tools: [{ id: "tool-0" }],
  };
  const before = {
    agent_type: "memgpt_agent",
    core_memory: [LETTA_BLOCK],
    messages: LETTA_MESSAGES,
  };
  for (const file of [today, before]) {
    const { name, memories, problems } = await readContent(JSON.stringify(file), "gardener.af");
    expect({ name, problems }).toEqual({ name: "an agent of Letta", problems: [] });
    expect(memories.map(({ content }) => content).sort()).toEqual([
      "Assistant: Noted: tea.",
      "Keeps bees",
      "Name: Sam",
      "User: I like tea.",
    ]);
  }
  const passages = await readContent(
    JSON.stringify([
      {
        id: "passage-1",
        text: "Sam moved to Porto.",
        tags: ["home"],
        archive_id: "archive-1",
        embedding: [0.1],
      },
    ]),
  );
  expect(passages.memories).toMatchObject([{ content: "Sam moved to Porto.", tags: ["home"] }]);
});

// `ExportData` in src/types.ts of rohitg00/agentmemory
test("agentmemory: its memories, lessons of sessions, and what it saw", async () => {
  const { name, memories, problems, leftOut } = await readContent(
    JSON.stringify({
      version: "0.9.29",
      exportedAt: "2026-06-01T00:00:00.000Z",
      sessions: [{ id: "ses_1", project: "/home/sam/atlas", status: "completed" }],
      observations: {
        ses_1: [
          {
            id: "obs_1",
            sessionId: "ses_1",
            timestamp: "2026-05-01T00:00:00.000Z",
            type: "decision",
            title: "Chose Bun",
            facts: ["Bun starts faster"],
            narrative: "The team chose Bun over Node.js.",
            concepts: ["runtime"],
            importance: 7,
          },
        ],
      },
      memories: [
        {
          id: "mem_1",
          type: "preference",
          title: "Tabs",
          content: "Sam prefers tabs.",
          concepts: ["style"],
          files: ["biome.json"],
          sessionIds: ["ses_1"],
          strength: 7,
          version: 1,
          isLatest: true,
          project: "atlas",
          createdAt: "2026-05-02T00:00:00.000Z",
          updatedAt: "2026-05-03T00:00:00.000Z",
        },
        { id: "mem_0", title: "Spaces", content: "Sam prefers spaces.", isLatest: false },
      ],
      summaries: [
        {
          sessionId: "ses_1",
          project: "atlas",
          title: "Set-up",
          narrative: "Bun was set up.",
          keyDecisions: ["Use Bun"],
        },
      ],
      semanticMemories: [{ id: "sem_1", fact: "Atlas runs on Bun.", confidence: 0.9 }],
      graphNodes: [{ id: "n1", name: "Bun" }],
    }),
  );
  expect({ name, problems }).toEqual({ name: "an export of agentmemory", problems: [] });
  expect(leftOut).toEqual(["former versions of memories: 1"]);
  expect(
    memories.map(({ content, project, session_id }) => [content, project, session_id]),
  ).toEqual([
    ["Chose Bun: The team chose Bun over Node.js.\n- Bun starts faster", undefined, "ses_1"],
    ["Tabs: Sam prefers tabs.", "atlas", "ses_1"],
    ["Set-up: Bun was set up.\n- Use Bun", "atlas", "ses_1"],
    ["Atlas runs on Bun.", undefined, undefined],
  ]);
});

test.each([
  [
    "commas",
    'id,Content,Tags,Created At,Mood\n1,"Sam likes ""green"" tea,\nand black",food;drink,2026-01-02,good\n2,,x,,\n',
  ],
  [
    "semicolons",
    '\ufeffContent;Tags;Created At;Mood\r\n"Sam likes ""green"" tea,\nand black";"food,drink";2026-01-02;good\r\n;x;;\r\n',
  ],
  [
    "tabs",
    'Content\tTags\tCreated At\tMood\n"Sam likes ""green"" tea,\nand black"\tfood|drink\t2026-01-02\tgood\n\tx\t\t\n',
  ],
])("a table with %s between its cells", async (_, text) => {
  const { name, memories, leftOut } = await readContent(text, "table");
  expect({ name, leftOut }).toEqual({
    name: "a table in CSV",
    leftOut: ["rows without a text: 1"],
  });
  expect(memories).toMatchObject([
    {
      content: 'Sam likes "green" tea,\nand black',
      tags: ["food", "drink"],
      created_at: "2026-01-02T00:00:00.000Z",
      metadata: { Mood: "good" },
    },
  ]);
});

test("a table without a column for the text gives each row as a whole", async () => {
  const { memories } = await readContent("name,city\nSam,Porto\nAda,London\n", "people.csv");
  expect(memories.map(({ content }) => content)).toEqual([
    "name: Sam; city: Porto",
    "name: Ada; city: London",
  ]);
});

test("rows that two tables number alike are different memories", async () => {
  const [one, two] = await Promise.all(
    ["Bees hum.", "Tea is hot."].map((text) => readContent(`id,text\n1,${text}\n`, "a.csv")),
  );
  expect(one?.memories[0]?.id).not.toBe(two?.memories[0]?.id ?? "");
});

test("a sentence with commas is no table", async () => {
  const { name } = await readContent("Bees, tea, and notes\n\nText, more text\n", "a.txt");
  expect(name).toBe("text");
});
