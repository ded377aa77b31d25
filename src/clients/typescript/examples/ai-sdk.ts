// CTXD_KEY=ctx_… bun examples/ai-sdk.ts
import { memoryTools } from "@ctxd/client/ai-sdk";
import { generateText, isStepCount } from "ai";
import { client } from "./client.ts";
import { languageModel } from "./stand-ins.ts";

for (const prompt of ["I am allergic to peanuts.", "What am I allergic to?"]) {
  const { text } = await generateText({
    model: languageModel, // "anthropic/claude-opus-5-5", for example
    tools: memoryTools(client),
    stopWhen: isStepCount(10),
    prompt,
  });
  console.log(text);
}
