// Saves a fact, finds it with a question that shares no word with it, and corrects it.
import { CtxdError, createClient } from "@ctxd/client";

const memories = createClient({ url: process.env.CTXD_URL, key: process.env.CTXD_KEY ?? "" });

const saved = await memories.save({ content: "Sam is allergic to peanuts", tags: ["food"] });
const [best] = await memories.search("which food makes him ill?", { limit: 3 });
console.log(best?.content);

// Refused if somebody else has changed it since.
const content = "Sam is allergic to peanuts and shellfish";
await memories.update(saved.id, { content }, { ifMatch: saved });

for await (const memory of memories.list({ tags: ["food"] })) console.log(memory.content);

await memories.delete(saved.id);
try {
  await memories.get(saved.id);
} catch (error) {
  if (!(error instanceof CtxdError && error.code === "memory_not_found")) throw error;
  console.log("It is gone.");
}
