import { describe, expect, test } from "bun:test";
import { generateText, isStepCount } from "ai";
import { memoryTools } from "../src/adapters/ai-sdk.ts";
import { createScriptedModel } from "./scripted-model.ts";
import { newClient } from "./support.ts";
import { createToolScript } from "./tool-script.ts";

describe("the tools of the Vercel AI SDK", () => {
  test("a model saves, finds, changes and deletes by them", async () => {
    const script = createToolScript();
    const { text } = await generateText({
      model: createScriptedModel(script),
      tools: memoryTools(script.client),
      stopWhen: isStepCount(20),
      prompt: "I am Ana.",
    });
    expect(text).toBe("Done.");
    await script.check();
  });

  test("who may only read gets no others", () => {
    const names = Object.keys(memoryTools(newClient(), { readOnly: true }));
    expect(names).toEqual(["search_memories", "get_memory"]);
  });

  test("what is saved has its agent and its conversation, which a model can't choose", async () => {
    const client = newClient();
    const tools = memoryTools(client, { agentId: "planner", sessionId: "s-1" });
    const input = { content: "a fact", agent_id: "another", project: "another" };
    await tools.save_memory?.execute?.(input, { toolCallId: "1", messages: [], context: {} });
    const [saved] = await Array.fromAsync(client.list());
    expect(saved).toMatchObject({ agent_id: "planner", session_id: "s-1", content: "a fact" });
  });

  test("a long memory is shown by what matched", async () => {
    const client = newClient();
    await client.save({ content: `${"filler text\n\n".repeat(300)}Ana is allergic to peanuts` });
    const tools = memoryTools(client);
    const options = { toolCallId: "1", messages: [], context: {} };
    const answer = await tools.search_memories?.execute?.({ query: "peanuts" }, options);
    expect(answer).toMatchObject({ memories: [{ cut: true, content: expect.any(String) }] });
    expect(JSON.stringify(answer).length).toBeLessThan(1_000);
  });

  test("what is no answer is not shown", async () => {
    const client = newClient();
    await client.save({ content: "Ana is allergic to peanuts" });
    const options = { toolCallId: "1", messages: [], context: {} };
    const search = memoryTools(client).search_memories?.execute;
    expect(await search?.({ query: "xyzzy" }, options)).toMatchObject({ memories: [] });
  });

  test("what a model gives wrong it is told", async () => {
    const tools = memoryTools(newClient());
    const options = { toolCallId: "1", messages: [], context: {} };
    const call = async (name: string, input: unknown) => tools[name]?.execute?.(input, options);
    await expect(call("get_memory", { id: 7 })).rejects.toThrow("id must be a JSON string.");
    await expect(call("search_memories", null)).rejects.toThrow("query must be a JSON string.");
    await expect(call("save_memory", { content: "x", tags: "a" })).rejects.toThrow("JSON array.");
    await expect(call("update_memory", { id: "../stats" })).rejects.toThrow("begin with mem_");
    await expect(call("search_memories", { query: "x", limit: 0 })).rejects.toThrow("1 to 100");
  });

  test("a call ends with who called", async () => {
    const tools = memoryTools(newClient());
    const options = {
      toolCallId: "1",
      messages: [],
      context: {},
      abortSignal: AbortSignal.abort(),
    };
    const search = async () => tools.search_memories?.execute?.({ query: "x" }, options);
    await expect(search()).rejects.toThrow(/abort/i);
  });
});
