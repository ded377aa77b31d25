import { expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { contentsOf, readContent, readSource } from "../support/import.ts";

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

test("lists with dates, as assistants answer a request for all memories", async () => {
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

test("lists with one memory per line, as copied from ChatGPT's settings", async () => {
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

test("each part of a long text begins with its subject", async () => {
  const { memories } = await readContent(`# Novel\n\n${"word ".repeat(20_000)}`, "a.md");
  expect(memories.length).toBeGreaterThan(3);
  expect(memories.every(({ content }) => content.startsWith("Novel: word "))).toBe(true);
  expect(memories.every(({ content }) => content.length <= 32_768)).toBe(true);
});

test("notes keep the ids of earlier versions, which ignored the subject", async () => {
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
