import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { readContent, readSource } from "../support/import.ts";
import { zip } from "../support/zip.ts";

/** Fields as in https://difegam.github.io/chatgpt-to-markdown/reference/data-models. */
function chatGptNode(id: string, parent: string | null, message: object | null = null) {
  return { id, parent, children: [], message: message && { id, weight: 1, ...message } };
}
const said = (role: string, text: string, at: number, more: object = {}) => ({
  author: { role, name: null, metadata: {} },
  create_time: at,
  content: { content_type: "text", parts: [text] },
  recipient: "all",
  ...more,
});
const NODES = [
  chatGptNode("root", null),
  chatGptNode("hidden", "root", { ...said("system", "", 1_709_654_400), weight: 0 }),
  chatGptNode("context", "hidden", {
    ...said("assistant", "", 1_709_654_400),
    content: {
      content_type: "model_editable_context",
      model_set_context: "1. [2024-01-02]. User keeps bees.\n2. [2024-01-03]. User lives in Porto.",
    },
  }),
  chatGptNode("question", "context", said("user", "Which hive shall I buy?", 1_709_654_401.5)),
  chatGptNode("asked-before", "context", said("user", "Which hive?", 1_709_654_400.5)),
  chatGptNode(
    "search",
    "question",
    said("assistant", "hives", 1_709_654_402, { recipient: "web" }),
  ),
  chatGptNode("found", "search", said("tool", "a long page", 1_709_654_403)),
  chatGptNode(
    "bio",
    "found",
    said("assistant", "User wants a hive.", 1_709_654_403, { recipient: "bio" }),
  ),
  chatGptNode("thought", "bio", {
    ...said("assistant", "", 1_709_654_404),
    content: { content_type: "thoughts", thoughts: [{ content: "Hm." }] },
  }),
  chatGptNode("answer", "thought", {
    ...said("assistant", "", 1_709_654_404),
    content: { content_type: "multimodal_text", parts: [{ asset_pointer: "x" }, "A Langstroth."] },
  }),
];
const CHAT = {
  title: "Hives",
  create_time: 1_709_654_400,
  update_time: 1_709_654_405,
  mapping: Object.fromEntries(NODES.map((node) => [node.id, node])),
  current_node: "answer",
  conversation_id: "8f3a2b1c-0000-4000-8000-000000000001",
  gizmo_id: null,
};
const CHATGPT_ZIP = [
  { name: "user.json", content: JSON.stringify({ id: "user-1", email: "you@example.com" }) },
  { name: "conversations-000.json", content: JSON.stringify([CHAT], null, 1) },
  { name: "conversations-001.json", content: JSON.stringify([{ ...CHAT, title: "Again" }]) },
  { name: "chat.html", content: "<html></html>" },
  { name: "dalle-generations/one.webp", content: "RIFF" },
  {
    name: "memory.json",
    content: JSON.stringify([
      { content: "User is called Sam.", enabled: true, created_at: "2024-05-01T00:00:00Z" },
      { content: "User has a cat.", enabled: false, created_at: "2024-05-01T00:00:00Z" },
    ]),
  },
];

test("the ZIP of ChatGPT: visible turns and saved memories", async () => {
  const read = await readContent(zip(CHATGPT_ZIP), "chatgpt.zip");
  expect(read.name).toBe("conversations of ChatGPT (2 files) and memories of ChatGPT");
  expect(read.memories.slice(0, 5)).toEqual([
    expect.objectContaining({ content: "User keeps bees.", tags: ["saved"], agent_id: "chatgpt" }),
    expect.objectContaining({ content: "User lives in Porto.", tags: ["saved"] }),
    {
      id: expect.stringMatching(/^mem_/),
      content: "User: Which hive shall I buy?",
      agent_id: "chatgpt",
      session_id: CHAT.conversation_id,
      metadata: { role: "user", title: "Hives" },
      created_at: "2024-03-05T16:00:01.500Z",
    },
    expect.objectContaining({ content: "User wants a hive.", tags: ["saved"] }),
    expect.objectContaining({
      content: "Assistant: A Langstroth.",
      session_id: CHAT.conversation_id,
    }),
  ]);
  // What is in the second part again has the same ids.
  const ids = new Set(read.memories.map(({ id }) => id));
  expect([ids.size, read.memories.at(-1)?.content]).toEqual([6, "User is called Sam."]);
  expect(read.places[2]).toBe("conversations-000.json, entry 1");
  expect(read.problems).toEqual([]);
  expect(read.leftOut.sort()).toEqual([
    "files of other kinds (.html): 1",
    "files of other kinds (.webp): 1",
    "memories that were switched off there: 1",
  ]);
  expect(read.unread).toEqual([
    "user.json is JSON in an unknown format: ctxd import --help lists what can be imported",
  ]);
});

/** Fields as in https://whychose.com/seo/claude-conversation-export-format. */
const CLAUDE_CHAT = {
  uuid: "c-1",
  name: "Planting",
  summary: "",
  created_at: "2026-02-14T10:04:22.000000Z",
  updated_at: "2026-02-14T10:22:41.000000Z",
  project_uuid: "p-1",
  account: { uuid: "a-1" },
  chat_messages: [
    {
      uuid: "m-1",
      sender: "human",
      text: "What shall I plant in May?",
      content: [{ type: "text", text: "What shall I plant in May?" }],
      created_at: "2026-02-14T10:04:22.123456Z",
      attachments: [],
    },
    {
      uuid: "m-2",
      sender: "assistant",
      text: "Beans. ```This block is not supported.```",
      content: [
        { type: "thinking", thinking: "May is warm." },
        { type: "tool_use", name: "web_search", input: {} },
        { type: "tool_result", content: [{ type: "text", text: "a page" }] },
        { type: "text", text: "Beans." },
      ],
      created_at: "2026-02-14T10:04:22.123456Z",
    },
    { uuid: "m-3", sender: "human", text: "", content: [], created_at: "2026-02-14T10:05:00Z" },
  ],
};
const CLAUDE_ZIP = [
  { name: "users.json", content: JSON.stringify([{ uuid: "a-1", full_name: "Sam" }]) },
  { name: "conversations.json", content: JSON.stringify([CLAUDE_CHAT]) },
  {
    name: "projects.json",
    content: JSON.stringify([
      {
        uuid: "p-1",
        name: "Garden",
        description: "Beds behind the house",
        is_private: true,
        is_starter_project: false,
        prompt_template: "Answer in metres.",
        docs: [{ uuid: "d-1", filename: "soil.md", content: "# Soil\n\nThe soil is sandy." }],
        created_at: "2026-01-01T00:00:00Z",
      },
    ]),
  },
  {
    name: "memories.json",
    content: JSON.stringify([
      { conversations_memory: "Sam gardens.", project_memories: { "p-1": "Beds face south." } },
    ]),
  },
];

test("the ZIP of Claude: conversations, memories and projects, which are called by their names", async () => {
  const read = await readContent(zip(CLAUDE_ZIP), "data-2026-02-14.zip");
  expect(read.problems).toEqual([]);
  expect(
    read.memories.map(({ content, project, session_id, metadata }) => [
      content,
      project,
      session_id,
      metadata?.role,
    ]),
  ).toEqual([
    ["Garden: Beds behind the house", "Garden", undefined, undefined],
    ["Garden › Instructions: Answer in metres.", "Garden", undefined, undefined],
    ["Garden › soil.md › Soil: The soil is sandy.", "Garden", undefined, undefined],
    ["User: What shall I plant in May?", "Garden", "c-1", "user"],
    ["Assistant: Beans.", "Garden", "c-1", "assistant"],
    ["Sam gardens.", undefined, undefined, undefined],
    ["Beds face south.", "Garden", undefined, undefined],
  ]);
  expect(read.unread).toHaveLength(1);
});

test("the same files unpacked, alone or in a folder, are the same memories", async () => {
  const folder = temporaryFolder();
  for (const { name, content } of CLAUDE_ZIP) writeFileSync(join(folder, name), content);
  const [packed, unpacked, alone] = await Promise.all([
    readContent(zip(CLAUDE_ZIP)),
    readSource(folder),
    readSource(join(folder, "conversations.json")),
  ]);
  const idsOf = ({ memories }: typeof packed) => memories.map(({ id }) => id);
  expect(idsOf(unpacked)).toEqual(idsOf(packed));
  expect(idsOf(alone)).toEqual(idsOf(packed).slice(3, 5));
});

test("turns of one session that share a time keep the file's order, by a millisecond each", async () => {
  const texts = Array.from({ length: 40 }, (_, n) => `Turn ${n}`);
  const turn = (text: string, at: string) => ({
    uuid: text,
    sender: "human",
    text,
    created_at: at,
  });
  const at = "2026-02-14T10:04:22Z";
  const messages = [...texts.map((text) => turn(text, at)), turn("Later", "2026-02-14T10:05:00Z")];
  const chats = [
    { ...CLAUDE_CHAT, chat_messages: messages },
    { ...CLAUDE_CHAT, uuid: "c-2", chat_messages: [turn("Elsewhere", at)] },
  ];
  const { memories } = await readContent(JSON.stringify(chats));
  const times = memories.map(({ created_at }) => Date.parse(created_at ?? ""));
  expect(memories.map(({ content }) => content)).toEqual(
    [...texts, "Later", "Elsewhere"].map((text) => `User: ${text}`),
  );
  expect(times.slice(0, 40)).toEqual(texts.map((_, n) => Date.parse(at) + n));
  expect(times.slice(40)).toEqual([Date.parse("2026-02-14T10:05:00Z"), Date.parse(at)]);
});

test("a conversation without a way through its tree, or in a circle, is read nevertheless", async () => {
  const { current_node: _, ...lost } = CHAT;
  const mapping = {
    a: chatGptNode("a", "b", said("user", "Round", 1_709_654_400)),
    b: chatGptNode("b", "a", said("assistant", "and round", 1_709_654_401)),
  };
  const circle = { ...CHAT, mapping, current_node: "b" };
  const { memories, problems } = await readContent(JSON.stringify([lost, circle, { mapping: 1 }]));
  expect(memories.map(({ content }) => content)).toContain("User: Which hive?");
  expect(memories.map(({ content }) => content)).toContain("Assistant: and round");
  expect(problems).toEqual(["entry 3: is not a conversation"]);
});
