// CTXD_KEY=ctx_… bun examples/mastra.ts
import { memoryTools } from "@ctxd/client/mastra";
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { client } from "./client.ts";
import { languageModel } from "./stand-ins.ts";

const agent = new Agent({
  id: "assistant",
  name: "Assistant",
  instructions: "Remember what matters.",
  model: languageModel as unknown as AgentConfig["model"], // "anthropic/claude-opus-5-5", for example
  tools: memoryTools(client),
});

for (const prompt of ["I am allergic to peanuts.", "What am I allergic to?"]) {
  const { text } = await agent.generate(prompt);
  console.log(text);
}
