import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { temporaryFolder } from "../support/database.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";
import {
  ACCOUNT,
  best,
  breakOff,
  embeddersWith,
  gated,
  NEW,
  OLD,
  prepare,
  untilDone,
} from "../support/reembedding-data.ts";
import { until } from "../support/until.ts";

test("the old model answers until the new one has embedded all, and no write is lost", async () => {
  const { dataDir, ids } = await prepare(150);
  const { embedder, contents, reached, go } = gated(NEW, 100);
  const embedders = embeddersWith(embedder);
  await using data = await openData(dataDir, HASTY, embedders);
  const { memories, store } = data;
  await reached;

  expect(store.reembedded()).toBeWithin(0.01, 0.99);
  expect((await best(data, "number7"))?.content).toBe("note number7 of many");
  const [added] = await memories.saveAll(wholeAccount(ACCOUNT), [
    { content: "a thing said meanwhile" },
  ]);
  const [changed = "", gone = "", retagged = ""] = [ids[3], ids[120], ids[149]];
  await memories.update(wholeAccount(ACCOUNT), changed, { content: "number3 is another now" });
  await memories.update(wholeAccount(ACCOUNT), retagged, { tags: ["late"] });
  await memories.remove(wholeAccount(ACCOUNT), gone);
  expect(embedders.old.contents).toContain("a thing said meanwhile");

  go();
  await untilDone(data);
  const { model } = await store.use(ACCOUNT, async ({ table }) => table);
  expect(model).toMatchObject(NEW);
  expect((await best(data, "said meanwhile"))?.id).toBe(added?.id ?? "");
  expect((await memories.get(wholeAccount(ACCOUNT), changed)).content).toBe(
    "number3 is another now",
  );
  expect((await memories.get(wholeAccount(ACCOUNT), retagged)).tags).toEqual(["late"]);
  expect(await outcomeOf(memories.get(wholeAccount(ACCOUNT), gone))).toThrow(/No memory/);
  expect((await memories.stats(wholeAccount(ACCOUNT))).memories).toBe(150);
  const expected = [...ids.filter((id) => id !== gone), added?.id ?? ""];
  const vectors = await store.use(ACCOUNT, ({ table }) => table.load(expected));
  expect(vectors.map(({ vectors }) => vectors[0]?.length)).toEqual(Array(150).fill(24));
  // A memory with a new tag was not embedded again.
  expect(contents.filter((content) => content === "note number149 of many")).toHaveLength(1);
  const folders = () => readdirSync(join(dataDir, "memories"));
  await until("one base", () => folders().length === 1);
  expect(folders()[0]).toMatch(/^acc_0123456789abcdef\.[0-9a-f]{8}\.[0-9a-f]{8}\.lance$/);
});

test("a model of which an earlier version stored less answers while its memories are embedded again", async () => {
  const dataDir = temporaryFolder();
  const earlier = fakeEmbedder(OLD);
  const bare: Embedder = {
    ...earlier,
    async embedContent(text) {
      const { vectors } = await earlier.embedContent(text);
      return { vectors, starts: [], states: new Int8Array(0) };
    },
  };
  {
    await using data = await openData(dataDir, HASTY, createEmbedders(bare));
    const contents = Array.from({ length: 40 }, (_, n) => ({ content: `note number${n}` }));
    await data.memories.saveAll(wholeAccount(ACCOUNT), contents);
  }
  const present = { id: "present", dimension: OLD.dimension, formerIds: [OLD.id] };
  const { embedder, reached, go } = gated(present, 20);
  // No other model is opened.
  await using data = await openData(dataDir, HASTY, createEmbedders(embedder));
  await reached;
  expect((await best(data, "number7"))?.content).toBe("note number7");
  const asked = await embedder.embedQuery("number7");
  const compared = () =>
    data.store.use(ACCOUNT, async ({ table }) => {
      const ids = await table.select({});
      return (await table.interaction(ids, asked.states, [1])).size;
    });
  expect(await compared()).toBe(0);
  go();
  await untilDone(data, present);
  expect(await compared()).toBe(40);
});

test("embedding again continues after a restart, with writes from before it", async () => {
  const { dataDir, ids } = await prepare(200);
  {
    const { embedder, reached, go } = gated(NEW, 130);
    const data = await openData(dataDir, HASTY, embeddersWith(embedder));
    await reached;
    await data.memories.remove(wholeAccount(ACCOUNT), ids[0] ?? "");
    await data.memories.update(wholeAccount(ACCOUNT), ids[1] ?? "", {
      content: "changed before the break",
    });
    await breakOff(data, go);
  }
  const embedder = fakeEmbedder(NEW);
  await using data = await openData(dataDir, HASTY, embeddersWith(embedder));
  await untilDone(data);
  expect(embedder.contents.length).toBeWithin(1, 140);
  expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(199);
  expect((await best(data, "before the break"))?.id).toBe(ids[1] ?? "");
});

test("an abandoned copy is removed when the old model is configured again", async () => {
  const { dataDir } = await prepare(100);
  {
    const { embedder, reached, go } = gated(NEW, 70);
    const data = await openData(dataDir, HASTY, embeddersWith(embedder));
    await reached;
    await data.memories.list(wholeAccount(ACCOUNT), { filter: {}, limit: 1 });
    await breakOff(data, go);
  }
  await using data = await openData(dataDir, HASTY, createEmbedders(fakeEmbedder(OLD)));
  await data.memories.list(wholeAccount(ACCOUNT), { filter: {}, limit: 1 });
  await until("one base", () => readdirSync(join(dataDir, "memories")).length <= 1);
  expect(readdirSync(join(dataDir, "memories"))[0]).toMatch(/^\w+\.[0-9a-f]{8}\.lance$/);
});

test("models can be changed back and forth", async () => {
  const { dataDir } = await prepare(80);
  for (const model of [NEW, OLD, NEW]) {
    const other = model === NEW ? OLD : NEW;
    const embedders = createEmbedders(fakeEmbedder(model), () => fakeEmbedder(other));
    await using data = await openData(dataDir, HASTY, embedders);
    await data.memories.list(wholeAccount(ACCOUNT), { filter: {}, limit: 1 });
    await untilDone(data, model);
    const { model: present } = await data.store.use(ACCOUNT, async ({ table }) => table);
    expect(present).toMatchObject(model);
    expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(80);
    await until("one base", () => readdirSync(join(dataDir, "memories")).length === 1);
  }
});

test("memories that are only in the log keep the model that embedded them", async () => {
  const dataDir = temporaryFolder();
  {
    const step = () => Promise.reject(new Error("no flush"));
    const embedders = createEmbedders(fakeEmbedder(OLD));
    await using data = await openData(dataDir, HASTY, embedders, { step });
    const notes = Array.from({ length: 20 }, (_, n) => ({ content: `note number${n} of many` }));
    await data.memories.saveAll(wholeAccount(ACCOUNT), notes);
  }
  const { embedder, reached, go } = gated(NEW, 10);
  const embedders = embeddersWith(embedder);
  await using data = await openData(dataDir, HASTY, embedders);
  await reached;
  const { model } = await data.store.use(ACCOUNT, async ({ table }) => table);
  expect(model).toMatchObject(OLD);
  expect((await best(data, "number7"))?.content).toBe("note number7 of many");
  await data.memories.saveAll(wholeAccount(ACCOUNT), [{ content: "a thing said meanwhile" }]);
  await until("a checkpoint", async () => (await data.log.head(ACCOUNT))?.checkpoint ?? null);
  go();
  await untilDone(data);
  expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(21);
});

test("without the old model, a search compares words, and saving is refused", async () => {
  const { dataDir } = await prepare(100);
  const { embedder, reached, go } = gated(NEW, 10);
  await using data = await openData(dataDir, HASTY, createEmbedders(embedder));
  await reached;
  expect((await best(data, "number5", "hybrid"))?.content).toBe("note number5 of many");
  expect(await outcomeOf(data.memories.saveAll(wholeAccount(ACCOUNT), [{ content: "x" }]))).toThrow(
    /embedded again/,
  );
  go();
  await untilDone(data);
  await data.memories.saveAll(wholeAccount(ACCOUNT), [{ content: "x" }]);
});
