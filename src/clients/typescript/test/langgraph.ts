import { describe, expect, test } from "bun:test";
import {
  Annotation,
  type BaseStore,
  InMemoryStore,
  type Item,
  type LangGraphRunnableConfig,
  type Operation,
  StateGraph,
} from "@langchain/langgraph";
import { CtxdStore } from "../src/adapters/langgraph.ts";
import { newClient } from "./support.ts";

const LABELS = ["users", "ana", "bob", "a, b", "zü/#%25", "x".repeat(70)];
const KEYS = ["1", "2", "a:b", " k", "k".repeat(200)];
const VALUES = [
  { text: "Ana likes tea", lang: "en", rank: 1 },
  { text: "Ana likes tea", rank: 2 },
  { content: "  kept with its spaces\n", nested: { list: [1, null, "two"] } },
  { rank: 3, flag: true },
  { data: " ", rank: 2.5 },
  { memory: 'a "quoted" text, with ünïcode 🙂', rank: 2 },
  { text: "with much beside it", notes: "n".repeat(5_000) },
  {},
];
const FILTERS = [
  {},
  { rank: 2 },
  { rank: { $gt: 1, $lte: 2.5 } },
  { rank: { $ne: 2 }, lang: "en" },
  { rank: { $in: [1, 3] } },
  { flag: { $nin: [true] } },
  { text: {} },
  { missing: undefined },
];

/** Theirs, which goes on to list a namespace when its last item has been deleted. */
class TidyStore extends InMemoryStore {
  override async batch<Op extends readonly Operation[]>(operations: Op) {
    const results = await super.batch(operations);
    const { data } = this as unknown as { data: Map<string, Map<string, Item>> };
    for (const [namespace, items] of data) if (items.size === 0) data.delete(namespace);
    return results;
  }
}

const stores = (): BaseStore[] => [new TidyStore(), new CtxdStore(newClient())];

/** The namespaces, keys and values of items, sorted, since a search without a query has no defined order. */
function plain(items: readonly Item[]) {
  const said = items.map(({ namespace, key, value }) => ({ namespace, key, value }));
  return said.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

/** Numbers below a bound that are the same for the same seed, so that a failure can be repeated. */
function createRandom(seed: number) {
  let state = seed;
  return (bound: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * bound);
  };
}

describe("as LangGraph's own store", () => {
  test.each([1, 2, 3])("it reads what was written (seed %d)", async (seed) => {
    const random = createRandom(seed);
    const pick = <Each>(all: readonly Each[]) => all[random(all.length)] as Each;
    const pickNamespace = () => Array.from({ length: 1 + random(3) }, () => pick(LABELS));
    const both = stores();
    for (let round = 0; round < 15; round++) {
      const writes: Operation[] = Array.from({ length: 1 + random(8) }, () => ({
        ...{ namespace: pickNamespace(), key: pick(KEYS) },
        value: random(5) === 0 ? null : pick(VALUES),
      }));
      const [namespace, key] = [pickNamespace(), pick(KEYS)];
      const prefix = namespace.slice(0, random(3));
      const filter = pick(FILTERS);
      const listing = {
        ...(random(2) && { prefix: ["*", ...prefix.slice(1)] }),
        ...(random(2) && { suffix: namespace.slice(-1) }),
        ...(random(2) && { maxDepth: 1 + random(3) }),
        ...(random(2) && { limit: 1 + random(3), offset: random(2) }),
      };
      const [theirs, ours] = await Promise.all(
        both.map(async (store) => {
          await store.batch(structuredClone(writes));
          return {
            items: plain(await store.search(prefix, { filter, limit: 1_000 })),
            one: plain([(await store.get(namespace, key)) ?? []].flat()),
            namespaces: await store.listNamespaces(listing),
          };
        }),
      );
      expect(ours).toEqual(theirs as NonNullable<typeof theirs>);
    }
  });

  test("it refuses namespaces that can't be", async () => {
    for (const store of stores()) {
      for (const namespace of [[], [""], ["a.b"], ["a:b"]]) {
        const write = { namespace, key: "key", value: { a: 1 } };
        await expect(store.put(namespace, "key", { a: 1 })).rejects.toThrow(/amespace/);
        await expect(store.batch([write])).rejects.toThrow(/amespace/);
      }
    }
  });

  test("a batch reads what was there before it, and its last write holds", async () => {
    const place = { namespace: ["notes"], key: "one" };
    for (const store of stores()) {
      const answers = await store.batch([
        { ...place, value: { text: "first" } },
        place,
        { ...place, value: { text: "last" } },
      ] as Operation[]);
      expect(answers[1]).toBeNull();
      expect((await store.get(["notes"], "one"))?.value).toEqual({ text: "last" });
    }
  });
});

describe("a store of memories", () => {
  test("finds by meaning, in a namespace, with a score", async () => {
    const store = new CtxdStore(newClient());
    await store.put(["ana", "food"], "1", { text: "Ana is allergic to peanuts", sure: true });
    await store.put(["ana", "food"], "2", { text: "Ana drinks green tea", sure: false });
    await store.put(["bob", "food"], "1", { text: "Bob eats peanuts every day" });
    const found = await store.search(["ana"], { query: "who is allergic to peanuts?" });
    expect(found.map(({ key }) => key)).toEqual(["1", "2"]);
    expect(found[0]).toMatchObject({ namespace: ["ana", "food"], score: expect.any(Number) });
    const sure = await store.search(["ana"], { query: "tea", filter: { sure: true } });
    expect(sure.map(({ key }) => key)).toEqual(["1"]);
    const second = await store.search(["ana"], { query: "peanuts", limit: 1, offset: 1 });
    expect(second.map(({ key }) => key)).toEqual(["2"]);
    const long = { query: `who is allergic? ${"and so on ".repeat(1_000)}` };
    expect(await store.search(["ana"], long)).toHaveLength(2);
    expect(await store.search(["ana"], { query: "tea", limit: 0 })).toEqual([]);
  });

  test("keeps an item's text readable, and takes what people change", async () => {
    const client = newClient();
    const store = new CtxdStore(client);
    await store.put(["ana"], "1", { text: "Ana likes tea", rank: 1 });
    await store.put(["ana"], "2", { about: "Ana's desk is green" }, ["about"]);
    const before = await store.get(["ana"], "1");
    const memories = await Array.fromAsync(client.list());
    expect(memories.map(({ content }) => content)).toEqual([
      "Ana's desk is green",
      "Ana likes tea",
    ]);
    expect(memories[1]?.tags).toEqual(["langgraph:ana:1", "langgraph", "langgraph:ana"]);
    await client.update(memories[1]?.id ?? "", { content: "Ana likes coffee" });
    const after = await store.get(["ana"], "1");
    expect(after?.value).toEqual({ text: "Ana likes coffee", rank: 1 });
    expect(after?.createdAt).toEqual(before?.createdAt as Date);
    expect(after?.updatedAt.getTime()).toBeGreaterThanOrEqual(before?.updatedAt.getTime() ?? 0);
  });

  test("one item comes of what several programs put at the same moment", async () => {
    const client = newClient();
    const stores = Array.from({ length: 6 }, () => new CtxdStore(client));
    await Promise.all(
      stores.map((store, number) => store.put(["race"], "key", { text: `by ${number % 3}` })),
    );
    expect(await Array.fromAsync(client.list())).toHaveLength(1);
    const [store] = stores;
    await store?.delete(["race"], "key");
    await store?.put(["race"], "key", { text: "by 0" });
    expect((await store?.get(["race"], "key"))?.value).toEqual({ text: "by 0" });
    expect(await Array.fromAsync(client.list())).toHaveLength(1);
  });

  test("projects have items of their own, and other memories are none", async () => {
    const [ours, others] = [newClient(), newClient()];
    await ours.save({ content: "no item", tags: ["langgraph", "langgraph:ana"] });
    await new CtxdStore(others).put(["ana"], "1", { text: "of another project" });
    const shared = new CtxdStore(newClient(null));
    await shared.put(["shared"], "1", { text: "of no project" });
    const store = new CtxdStore(ours);
    expect(await store.get(["ana"], "1")).toBeNull();
    expect(await store.get(["shared"], "1")).toBeNull();
    await shared.delete(["shared"], "1");
    expect(await store.search([])).toEqual([]);
    await store.put(["ana"], "1", { text: "of this one" });
    await store.delete(["ana"], "1");
    expect(await new CtxdStore(others).get(["ana"], "1")).not.toBeNull();
  });

  test("a graph keeps and finds what its nodes learn", async () => {
    const State = Annotation.Root({ said: Annotation<string>, known: Annotation<string[]> });
    const graph = new StateGraph(State)
      .addNode("learn", async ({ said }, { store }: LangGraphRunnableConfig) => {
        await store?.put(["users", "ana"], said, { text: said });
        return {};
      })
      .addNode("recall", async ({ said }, { store }: LangGraphRunnableConfig) => {
        const items = (await store?.search(["users", "ana"], { query: said })) ?? [];
        return { known: items.map(({ value }) => String(value.text)) };
      })
      .addEdge("__start__", "learn")
      .addEdge("learn", "recall")
      .compile({ store: new CtxdStore(newClient()) });
    await graph.invoke({ said: "I was born in Porto" });
    const { known } = await graph.invoke({ said: "Where was I born?" });
    expect(known).toContain("I was born in Porto");
  });
});
