import { expect, test } from "bun:test";
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { memoryTools } from "../src/adapters/mastra.ts";
import { createScriptedModel } from "./scripted-model.ts";
import { createToolScript } from "./tool-script.ts";

test("a model saves, finds, changes and deletes by the tools of Mastra", async () => {
  const script = createToolScript();
  const agent = new Agent({
    ...{ id: "assistant", name: "Assistant", instructions: "Remember what matters." },
    // It runs it by the same interface, which it types otherwise.
    model: createScriptedModel(script) as unknown as AgentConfig["model"],
    tools: memoryTools(script.client),
  });
  const { text } = await agent.generate("I am Ana.", { maxSteps: 20 });
  expect(text).toBe("Done.");
  await script.check();
});
