import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import type { MemoryToolHandlers } from "@anthropic-ai/sdk/helpers/beta/memory";
import type { BetaMemoryTool20250818Command } from "@anthropic-ai/sdk/resources/beta";
import { BetaLocalFilesystemMemoryTool } from "@anthropic-ai/sdk/tools/memory/node";
import { createHandlers, memoryTool } from "../src/adapters/anthropic-memory.ts";
import type { Client } from "../src/index.ts";
import { newClient } from "./support.ts";

type Command = BetaMemoryTool20250818Command;

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

let client: Client;
let ours: MemoryToolHandlers;
let theirs: MemoryToolHandlers;
beforeEach(async () => {
  client = newClient();
  ours = createHandlers(client);
  const folder = mkdtempSync(join(tmpdir(), "ctxd-memory-tool-"));
  folders.push(folder);
  theirs = await BetaLocalFilesystemMemoryTool.init(folder);
});

/** What a command answers, or throws. */
async function run(handlers: MemoryToolHandlers, command: Command): Promise<string> {
  const handler = handlers[command.command] as (command: Command) => unknown;
  try {
    return String(await handler.call(handlers, command));
  } catch (error) {
    return `Error: ${error instanceof Error ? error.message : error}`;
  }
}

/** What a command shows, but for the sizes of folders: in a file system they have one of their own. */
const withoutSizes = (shown: string) => shown.replace(/(?<=:\n)\S+(?=\t)|^\S+(?=\t.*\/$)/gm, "?");

const path = "/memories/notes.md";
const SCRIPT: Command[] = [
  { command: "create", path, file_text: "one\ntwo\n\nfour" },
  { command: "create", path, file_text: "again" },
  { command: "view", path },
  { command: "view", path, view_range: [2, 3] },
  { command: "view", path, view_range: [3, -1] },
  { command: "view", path, view_range: [0, 99] },
  { command: "str_replace", path, old_str: "two", new_str: "2 $& two" },
  { command: "str_replace", path, old_str: "absent", new_str: "x" },
  { command: "str_replace", path, old_str: "o", new_str: "0" },
  { command: "insert", path, insert_line: 0, insert_text: "zero\n" },
  { command: "insert", path, insert_line: 5, insert_text: "five" },
  { command: "insert", path, insert_line: 99, insert_text: "never" },
  { command: "view", path },
  { command: "create", path: "/memories/work/plan.md", file_text: "x".repeat(1_536) },
  { command: "create", path: "/memories/work/deep/er/list.txt", file_text: "é" },
  { command: "create", path: "/memories/work/.hidden", file_text: "secret plans" },
  { command: "create", path: "/memories/work-2.md", file_text: "2" },
  { command: "create", path: "/memories/empty", file_text: "" },
  { command: "view", path: "/memories/empty" },
  { command: "view", path: "/memories" },
  { command: "view", path: "/memories/work" },
  { command: "view", path: "/memories/absent" },
  { command: "create", path: "/memories/work", file_text: "a folder" },
  { command: "str_replace", path: "/memories/work", old_str: "a", new_str: "b" },
  { command: "insert", path: "/memories/absent", insert_line: 0, insert_text: "a" },
  { command: "rename", old_path: "/memories/work", new_path: "/memories/done/2026" },
  { command: "rename", old_path: "/memories/absent", new_path: "/memories/other" },
  { command: "rename", old_path: path, new_path: "/memories/empty" },
  { command: "rename", old_path: path, new_path: "/memories/done/notes.md" },
  { command: "create", path, file_text: "one\ntwo\n\nfour" },
  { command: "view", path: "/memories" },
  { command: "view", path: "/memories/done" },
  { command: "delete", path: "/memories/done" },
  { command: "delete", path: "/memories/done" },
  { command: "delete", path: "/memories" },
  { command: "rename", old_path: "/memories", new_path: "/memories/all" },
  { command: "view", path: "/memories/../etc/passwd" },
  { command: "create", path: "/etc/passwd", file_text: "root" },
  { command: "create", path: "/memories/work/../../up", file_text: "up" },
  { command: "create", path: "/memories/a/c.md", file_text: "c" },
  { command: "view", path: "/memories" },
];

describe("the memory tool of the Claude API", () => {
  test("answers as the SDK's own, which keeps files", async () => {
    for (const command of SCRIPT) {
      const [answer, expected] = [await run(ours, command), await run(theirs, command)];
      expect({ command, answer: withoutSizes(answer) }).toEqual({
        ...{ command, answer: withoutSizes(expected) },
      });
    }
  });

  test("files are memories, found by meaning", async () => {
    await run(ours, { command: "create", path, file_text: "Ana is allergic to peanuts" });
    const [found] = await client.search("who is allergic to peanuts?");
    expect(found).toMatchObject({ content: "Ana is allergic to peanuts" });
    expect(found?.tags).toEqual([path, "/memories/"]);
  });

  test("replaces texts of several lines, and only those that are there once", async () => {
    await run(ours, { command: "create", path, file_text: "a\nb\nc\na\nb\nd a" });
    const replace = (old_str: string) =>
      run(ours, { command: "str_replace", path, old_str, new_str: "x" });
    expect(await replace("a\nb")).toContain("in lines: 1, 4.");
    expect(await replace("")).toContain("did not appear");
    expect(await replace("b\nd a")).toContain("     5\tx");
    expect(await run(ours, { command: "view", path })).toEndWith("     4\ta\n     5\tx");
  });

  test("says what can't be", async () => {
    const long = { command: "create", path, file_text: "x".repeat(32_769) } as const;
    expect(await run(ours, long)).toContain("at most 32768 characters");
    await run(ours, { command: "create", path, file_text: "a file" });
    const below = { command: "create", path: `${path}/below`, file_text: "x" } as const;
    expect(await run(ours, below)).toContain("/memories/notes.md is not a directory");
    await run(ours, { command: "create", path: "/memories/a/b", file_text: "x" });
    const within = {
      command: "rename",
      old_path: "/memories/a",
      new_path: "/memories/a/c",
    } as const;
    expect(await run(ours, within)).toContain("is within");
  });

  test("one of two changes at the same moment is refused, and none is lost", async () => {
    await run(ours, { command: "create", path, file_text: "start" });
    const texts = ["one", "two", "three"];
    const answers = await Promise.all(
      texts.map((insert_text) =>
        run(createHandlers(client), { command: "insert", path, insert_line: 1, insert_text }),
      ),
    );
    const made = answers.filter((answer) => !answer.startsWith("Error"));
    const shown = await run(ours, { command: "view", path });
    const kept = texts.filter((text) => shown.includes(text));
    expect(kept).toHaveLength(made.length);
    for (const answer of answers) expect(answer).toMatch(/has been edited|has changed since/);
  });

  test("Claude uses it by the SDK's tool runner", async () => {
    const uses = [
      { command: "view", path: "/memories" },
      { command: "create", path, file_text: "Ana is allergic to peanuts" },
      { command: "view", path: "/memories/absent" },
    ];
    const asked: { messages: { content: unknown }[] }[] = [];
    const anthropic = new Anthropic({
      apiKey: "none",
      fetch: async (_url, request) => {
        asked.push(JSON.parse(String(request?.body)));
        const input = uses[asked.length - 1];
        const content = input
          ? [{ type: "tool_use", id: `use-${asked.length}`, name: "memory", input }]
          : [{ type: "text", text: "Noted." }];
        const usage = { input_tokens: 1, output_tokens: 1 };
        const stop_reason = input ? "tool_use" : "end_turn";
        const message = { id: "msg", type: "message", role: "assistant", model: "none" };
        return Response.json({ ...message, content, usage, stop_reason });
      },
    });
    const last = await anthropic.beta.messages.toolRunner({
      ...{ model: "claude-opus-5-5", max_tokens: 1_000, tools: [memoryTool(client)] },
      messages: [{ role: "user", content: "I am allergic to peanuts." }],
    });
    expect(last.content).toMatchObject([{ text: "Noted." }]);
    expect(asked[0]).toMatchObject({ tools: [{ type: "memory_20250818", name: "memory" }] });
    const results = asked.slice(1).map(({ messages }) => JSON.stringify(messages.at(-1)));
    expect(results[1]).toContain("File created successfully");
    expect(results[2]).toContain("does not exist");
    expect(await Array.fromAsync(client.list())).toHaveLength(1);
  });
});
