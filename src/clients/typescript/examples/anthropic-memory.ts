// CTXD_KEY=ctx_… bun examples/anthropic-memory.ts
import Anthropic from "@anthropic-ai/sdk";
import { memoryTool } from "@ctxd/client/anthropic-memory";
import { client } from "./client.ts";
import { claude } from "./stand-ins.ts";

const anthropic = new Anthropic({ apiKey: "none", fetch: claude }); // new Anthropic(), with a key

for (const content of ["I am allergic to peanuts.", "What am I allergic to?"]) {
  const message = await anthropic.beta.messages.toolRunner({
    model: "claude-opus-5-5",
    max_tokens: 1_000,
    betas: ["context-management-2025-06-27"],
    tools: [memoryTool(client)],
    messages: [{ role: "user", content }],
  });
  for (const block of message.content) if (block.type === "text") console.log(block.text);
}
