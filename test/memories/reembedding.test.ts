import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { createEmbedders, type Embedders } from "../../src/embedding/embedders.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Log } from "../../src/memories/log/log.ts";
import { temporaryFolder } from "../support/database.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { HASTY, openData } from "../support/live-data.ts";

const ACCOUNT = "acc_0123456789abcdef";
const OLD = { id: "old", dimension: 16 };
const NEW = { id: "new", dimension: 24 };

/** An embedder that lets so many contents pass and keeps the next until it is told to go on. */
function gated(model: typeof OLD, free: number) {
  const inner = fakeEmbedder(model);
  const gate = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const embedder: Embedder = {
    ...inner,
    async embedContent(text) {
      if (inner.contents.length >= free) {
        reached.resolve();
        await gate.promise;
      }
      return await inner.embedContent(text);
    },
  };
  return { embedder, contents: inner.contents, reached: reached.promise, go: gate.resolve };
}

/** The wanted model, and the old one for as long as it is needed. */
function embeddersWith(wanted: Embedder): Embedders & { old: ReturnType<typeof fakeEmbedder> } {
  const old = fakeEmbedder(OLD);
  return { ...createEmbedders(wanted, () => old), old };
}

/** A data folder with so many memories of the old model. */
async function prepare(count: number): Promise<{ dataDir: string; ids: string[] }> {
  const dataDir = temporaryFolder();
  await using data = await openData(dataDir, HASTY, createEmbedders(fakeEmbedder(OLD)));
  const made = await data.memories.create(
    wholeAccount(ACCOUNT),
    Array.from({ length: count }, (_, n) => ({ content: `note number${n} of many` })),
  );
  return { dataDir, ids: made.map(({ id }) => id) };
}

type Data = Awaited<ReturnType<typeof openData>>;

/** Waits until the account's memories have their vectors from a model. */
async function untilDone({ store }: Data, wanted = NEW): Promise<void> {
  const present = () => store.use(ACCOUNT, async ({ table }) => table.model.id);
  while ((await present()) !== wanted.id || store.reembedded() !== null) await Bun.sleep(10);
}

/** Closes the data while a text is being embedded, which ends only then. */
async function breakOff(data: Data, go: () => void): Promise<void> {
  const closing = data.close();
  go();
  await closing;
}

/** The memory that answers best. */
async function best({ memories }: Data, query: string, mode: "semantic" | "hybrid" = "semantic") {
  const request = { query, mode, limit: 3, filter: {}, minScore: 0 };
  return (await memories.search(wholeAccount(ACCOUNT), request)).memories[0];
}

describe("another model", () => {
  test("takes over, and meanwhile the old one answers and nothing that is written is lost", async () => {
    const { dataDir, ids } = await prepare(150);
    const { embedder, contents, reached, go } = gated(NEW, 100);
    const embedders = embeddersWith(embedder);
    await using data = await openData(dataDir, HASTY, embedders);
    const { memories, store } = data;
    await reached;

    expect(store.reembedded()).toBeWithin(0.01, 0.99);
    expect((await best(data, "number7"))?.content).toBe("note number7 of many");
    const [added] = await memories.create(wholeAccount(ACCOUNT), [
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
    await expect(memories.get(wholeAccount(ACCOUNT), gone)).rejects.toThrow(/No memory/);
    expect((await memories.stats(wholeAccount(ACCOUNT))).memories).toBe(150);
    const expected = [...ids.filter((id) => id !== gone), added?.id ?? ""];
    const vectors = await store.use(ACCOUNT, ({ table }) => table.load(expected));
    expect(vectors.map(({ vectors }) => vectors[0]?.length)).toEqual(Array(150).fill(24));
    // What only got a tag was not embedded again.
    expect(contents.filter((content) => content === "note number149 of many")).toHaveLength(1);
    const folders = () => readdirSync(join(dataDir, "memories"));
    while (folders().length !== 1) await Bun.sleep(10);
    expect(folders()[0]).toMatch(/^acc_0123456789abcdef\.[0-9a-f]{8}\.[0-9a-f]{8}\.lance$/);
  });

  test("of which an earlier version kept less is asked itself meanwhile, and makes the rest", async () => {
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
      await data.memories.create(wholeAccount(ACCOUNT), contents);
    }
    const present = { id: "present", dimension: OLD.dimension, formerIds: [OLD.id] };
    const { embedder, reached, go } = gated(present, 20);
    // No other one is opened.
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

  test("goes on where a break left it, whatever was written before the break", async () => {
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

  test("given up half way, what it made is removed", async () => {
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
    while (readdirSync(join(dataDir, "memories")).length > 1) await Bun.sleep(10);
    expect(readdirSync(join(dataDir, "memories"))[0]).toMatch(/^\w+\.[0-9a-f]{8}\.lance$/);
  });

  test("and back again", async () => {
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
      while (readdirSync(join(dataDir, "memories")).length !== 1) await Bun.sleep(10);
    }
  });

  test("the account may be removed meanwhile", async () => {
    const { dataDir } = await prepare(100);
    const { embedder, reached, go } = gated(NEW, 70);
    await using data = await openData(dataDir, HASTY, embeddersWith(embedder));
    await reached;
    const dropping = data.store.drop(ACCOUNT);
    go();
    await dropping;
    while (data.store.reembedded() !== null) await Bun.sleep(10);
    expect(readdirSync(join(dataDir, "memories"))).toEqual([]);
  });

  test("is not taken for the one that made what is in the log alone", async () => {
    const dataDir = temporaryFolder();
    {
      const step = () => Promise.reject(new Error("no flush"));
      const embedders = createEmbedders(fakeEmbedder(OLD));
      await using data = await openData(dataDir, HASTY, embedders, { step });
      const notes = Array.from({ length: 20 }, (_, n) => ({ content: `note number${n} of many` }));
      await data.memories.create(wholeAccount(ACCOUNT), notes);
    }
    const { embedder, reached, go } = gated(NEW, 10);
    const embedders = embeddersWith(embedder);
    await using data = await openData(dataDir, HASTY, embedders);
    await reached;
    const { model } = await data.store.use(ACCOUNT, async ({ table }) => table);
    expect(model).toMatchObject(OLD);
    expect((await best(data, "number7"))?.content).toBe("note number7 of many");
    await data.memories.create(wholeAccount(ACCOUNT), [{ content: "a thing said meanwhile" }]);
    while (!(await data.log.head(ACCOUNT))?.checkpoint) await Bun.sleep(10);
    go();
    await untilDone(data);
    expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(21);
  });

  test("is kept, and the old one goes, when that can't be removed at first", async () => {
    const { dataDir } = await prepare(40);
    let failures = 1;
    const wrapLog = (log: Log): Log => ({
      ...log,
      async forget(names) {
        if (failures-- > 0) throw new Error("the disk reports an error");
        await log.forget(names);
      },
    });
    const embedders = createEmbedders(fakeEmbedder(NEW), () => fakeEmbedder(OLD));
    await using data = await openData(dataDir, HASTY, embedders, { wrapLog });
    await untilDone(data);
    while (readdirSync(join(dataDir, "memories")).length !== 1) await Bun.sleep(10);
    expect(failures).toBeLessThan(0);
    expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(40);
  }, 20_000);

  test("leaves nothing of an account that is removed while it begins", async () => {
    const { dataDir } = await prepare(10);
    const reached = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    let isFirst = true;
    const wrapLog = (log: Log): Log => ({
      ...log,
      async append(table, entry) {
        if (table !== ACCOUNT && isFirst) {
          isFirst = false;
          reached.resolve();
          await gate.promise;
        }
        return await log.append(table, entry);
      },
    });
    const embedders = createEmbedders(fakeEmbedder(NEW), () => fakeEmbedder(OLD));
    await using data = await openData(dataDir, HASTY, embedders, { wrapLog });
    await reached.promise;
    const dropping = data.store.drop(ACCOUNT);
    // What is written first of the new table is committed while the account is removed.
    setTimeout(gate.resolve, 100);
    await dropping;
    while (data.store.reembedded() !== null) await Bun.sleep(10);
    expect(await data.log.tables()).toEqual([]);
    expect(await data.log.allCurrent()).toEqual([]);
    expect(readdirSync(join(dataDir, "memories"))).toEqual([]);
  });

  test("reaches all other accounts while that of one keeps failing, and that one at last", async () => {
    const { dataDir } = await prepare(10);
    const others = ["acc_0000000000000000", "acc_ffffffffffffffff"];
    {
      await using data = await openData(dataDir, HASTY, createEmbedders(fakeEmbedder(OLD)));
      for (const other of others)
        await data.memories.create(wholeAccount(other), [{ content: "of another" }]);
    }
    let isBroken = true;
    const inner = fakeEmbedder(NEW);
    const embedContent: Embedder["embedContent"] = async (text) => {
      if (isBroken && text.startsWith("note")) throw new Error("no vector for this text");
      return await inner.embedContent(text);
    };
    const embedders = embeddersWith({ ...inner, embedContent });
    await using data = await openData(dataDir, HASTY, embedders);
    const modelOf = (accountId: string) =>
      data.store.use(accountId, async ({ table }) => table.model.id);
    for (const other of others) while ((await modelOf(other)) !== NEW.id) await Bun.sleep(10);
    expect(await modelOf(ACCOUNT)).toBe(OLD.id);
    while ((data.store.reembedded() ?? 0) < 0.6) await Bun.sleep(10);
    isBroken = false;
    await untilDone(data);
    expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(10);
  }, 20_000);

  test("without the old one, words are still found, and what needs it is refused", async () => {
    const { dataDir } = await prepare(100);
    const { embedder, reached, go } = gated(NEW, 10);
    await using data = await openData(dataDir, HASTY, createEmbedders(embedder));
    await reached;
    expect((await best(data, "number5", "hybrid"))?.content).toBe("note number5 of many");
    await expect(data.memories.create(wholeAccount(ACCOUNT), [{ content: "x" }])).rejects.toThrow(
      /made anew/,
    );
    go();
    await untilDone(data);
    await data.memories.create(wholeAccount(ACCOUNT), [{ content: "x" }]);
  });
});
