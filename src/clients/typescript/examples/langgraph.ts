// CTXD_KEY=ctx_… bun examples/langgraph.ts
import { CtxdStore } from "@ctxd/client/langgraph";
import { Annotation, type LangGraphRunnableConfig, StateGraph } from "@langchain/langgraph";
import { client } from "./client.ts";

const State = Annotation.Root({ said: Annotation<string>, known: Annotation<string[]> });
const namespace = ["users", "ana"];

const graph = new StateGraph(State)
  .addNode("recall", async ({ said }, { store }: LangGraphRunnableConfig) => {
    const items = (await store?.search(namespace, { query: said, limit: 3 })) ?? [];
    return { known: items.map(({ value }) => String(value.text)) };
  })
  .addNode("remember", async ({ said }, { store }: LangGraphRunnableConfig) => {
    await store?.put(namespace, crypto.randomUUID(), { text: said });
    return {};
  })
  .addEdge("__start__", "recall")
  .addEdge("recall", "remember")
  .compile({ store: new CtxdStore(client) });

await graph.invoke({ said: "I am allergic to peanuts." });
const { known } = await graph.invoke({ said: "What am I allergic to?" });
console.log(known);
