import { describe, expect, test } from "bun:test";
import type { ChatMessage, ChatResponse, ToolCallLLMMessageOptions } from "@llamaindex/core/llms";
import { MockLLM } from "@llamaindex/core/llms/mock";
import { createMemory } from "@llamaindex/core/memory";
import { CtxdMemoryBlock, memoryTools } from "../src/adapters/llamaindex.ts";
import { newClient } from "./support.ts";
import { createToolScript } from "./tool-script.ts";

test("a model saves, finds, changes and deletes by the tools of LlamaIndex.TS", async () => {
  const script = createToolScript();
  const llm = new MockLLM();
  const messages: ChatMessage<ToolCallLLMMessageOptions>[] = [
    { role: "user", content: "I am Ana." },
  ];
  for (;;) {
    const answers = messages.flatMap(({ options }) =>
      options && "toolResult" in options ? [options.toolResult.result] : [],
    );
    const use = script.next(answers);
    if (!use) break;
    const id = `call-${answers.length}`;
    llm.chat = async () =>
      ({
        message: { role: "assistant", content: "", options: { toolCall: [{ ...use, id }] } },
        raw: null,
      }) satisfies ChatResponse as never;
    const { newMessages } = await llm.exec({ messages, tools: memoryTools(script.client) });
    messages.push(...newMessages);
  }
  await script.check();
});

describe("the memory block of LlamaIndex.TS", () => {
  test("keeps what no longer fits, and shows what is known for the newest message", async () => {
    const client = newClient();
    const blocks = () => [new CtxdMemoryBlock(client, { sessionId: "s-1", agentId: "planner" })];
    const before = createMemory({ tokenLimit: 20, memoryBlocks: blocks() });
    await before.add({ role: "user", content: "By the way: I am allergic to peanuts, Ana says." });
    await before.add({ role: "assistant", content: "Noted, I keep that in mind for you." });
    await before.add({ role: "system", content: "Nobody said this, though it is long enough." });
    const kept = await Array.fromAsync(client.list());
    expect(kept).toHaveLength(2);
    expect(kept[0]).toMatchObject({ session_id: "s-1", agent_id: "planner" });

    const later = createMemory({ tokenLimit: 1_000, memoryBlocks: blocks() });
    await later.add({ role: "user", content: "Am I allergic to peanuts?" });
    const shown = await later.getLLM(new MockLLM());
    expect(shown.map(({ role }) => role)).toEqual(["memory", "user"]);
    expect(String(shown[0]?.content)).toContain("I am allergic to peanuts");
    await later.add({ role: "user", content: "xyzzy" });
    expect(await later.getLLM(new MockLLM())).toHaveLength(2);
  });

  test("a message may be longer than a memory", async () => {
    const client = newClient();
    const content = "long 🙂 ".repeat(9_000);
    await new CtxdMemoryBlock(client).put([{ id: "1", role: "user", content }]);
    const kept = await Array.fromAsync(client.list());
    expect(
      kept
        .map(({ content }) => content)
        .reverse()
        .join(""),
    ).toHaveLength(content.trim().length);
  });
});
