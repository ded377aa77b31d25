// CTXD_KEY=ctx_… bun examples/openai-agents.ts
import { memoryTools } from "@ctxd/client/openai-agents";
import { Agent, run, setTracingDisabled } from "@openai/agents";
import { client } from "./client.ts";
import { agentsModel } from "./stand-ins.ts";

setTracingDisabled(true); // It would be sent to OpenAI.

const agent = new Agent({
  name: "Assistant",
  instructions: "Remember what matters.",
  model: agentsModel, // "gpt-5", for example
  tools: memoryTools(client),
});

for (const prompt of ["I am allergic to peanuts.", "What am I allergic to?"]) {
  const { finalOutput } = await run(agent, prompt);
  console.log(finalOutput);
}
