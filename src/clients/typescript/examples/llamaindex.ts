// CTXD_KEY=ctx_… bun examples/llamaindex.ts
import { CtxdMemoryBlock } from "@ctxd/client/llamaindex";
import { createMemory } from "@llamaindex/core/memory";
import { client } from "./client.ts";

const block = new CtxdMemoryBlock(client, { agentId: "assistant" });
// So little room that what is said soon goes to the block.
const memory = createMemory({ tokenLimit: 20, memoryBlocks: [block] });
await memory.add({ role: "user", content: "I am Ana, and I am allergic to peanuts." });
await memory.add({ role: "assistant", content: "I will keep that in mind for you." });

const later = createMemory({ tokenLimit: 4_000, memoryBlocks: [block] });
await later.add({ role: "user", content: "What am I allergic to?" });
// What an agent of LlamaIndex.TS gives its model.
for (const { role, content } of await later.getLLM()) console.log(`${role}: ${content}`);
