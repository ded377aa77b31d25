import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { LocalLog } from "../../src/memories/log/log.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { HASTY, openData } from "../support/live-data.ts";
import {
  ACCOUNT,
  embeddersWith,
  gated,
  NEW,
  OLD,
  prepare,
  untilDone,
} from "../support/reembedding-data.ts";
import { NEVER } from "../support/shared-stores.ts";
import { until } from "../support/until.ts";

/** Tables that may be open at once in little room; see `pool.ts`. */
const MOST_OPEN = 96;

test("an account can be removed while it is embedded again", async () => {
  const { dataDir } = await prepare(100);
  const { embedder, reached, go } = gated(NEW, 70);
  await using data = await openData(dataDir, HASTY, embeddersWith(embedder));
  await reached;
  const dropping = data.store.drop(ACCOUNT);
  go();
  await dropping;
  await until("the end of embedding again", () => data.store.reembedded() === null);
  expect(readdirSync(join(dataDir, "memories"))).toEqual([]);
});

test("the old table is removed later if it can't be removed at first", async () => {
  const { dataDir } = await prepare(40);
  let failures = 1;
  const wrapLog = (log: LocalLog): LocalLog => ({
    ...log,
    async forget(names) {
      if (failures-- > 0) throw new Error("the disk reports an error");
      await log.forget(names);
    },
  });
  const embedders = createEmbedders(fakeEmbedder(NEW), () => fakeEmbedder(OLD));
  await using data = await openData(dataDir, HASTY, embedders, { wrapLog });
  await untilDone(data);
  await until("one base", () => readdirSync(join(dataDir, "memories")).length === 1);
  expect(failures).toBeLessThan(0);
  expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(40);
});

test("nothing remains of an account that is removed while its copy is started", async () => {
  const { dataDir } = await prepare(10);
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isFirst = true;
  const wrapLog = (log: LocalLog): LocalLog => ({
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
  // The copy's first commit is made while the account is being removed.
  setTimeout(gate.resolve, 100);
  await dropping;
  await until("the end of embedding again", () => data.store.reembedded() === null);
  expect(await data.log.tables()).toEqual([]);
  expect(await data.log.allCurrent()).toEqual([]);
  expect(readdirSync(join(dataDir, "memories"))).toEqual([]);
});

test("an account that keeps failing does not delay the others, and is embedded at last", async () => {
  const { dataDir } = await prepare(10);
  const others = ["acc_0000000000000000", "acc_ffffffffffffffff"];
  {
    await using data = await openData(dataDir, HASTY, createEmbedders(fakeEmbedder(OLD)));
    for (const other of others)
      await data.memories.saveAll(wholeAccount(other), [{ content: "of another" }]);
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
  for (const other of others) {
    await until("the new model", async () => (await modelOf(other)) === NEW.id);
  }
  expect(await modelOf(ACCOUNT)).toBe(OLD.id);
  await until("the other accounts", () => (data.store.reembedded() ?? 0) >= 0.6);
  isBroken = false;
  await untilDone(data);
  expect((await data.memories.stats(wholeAccount(ACCOUNT))).memories).toBe(10);
});

test("a write that waits for a place goes to the table that replaces its table meanwhile", async () => {
  const { dataDir, ids } = await prepare(3);
  const { embedder, reached, go } = gated(NEW, 0);
  const [place, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let writing: Promise<unknown> | null = null;
  const wrapLog = (log: LocalLog): LocalLog => ({
    ...log,
    async append(table, entry) {
      // The copy's only commit, right before the copy replaces the table.
      if (writing === null && table.startsWith(`${ACCOUNT}.`)) {
        writing = data.memories.remove(wholeAccount(ACCOUNT), ids[0] ?? "");
        await Bun.sleep(10);
      }
      return await log.append(table, entry);
    },
    async setCurrent(accountId, table) {
      await log.setCurrent(accountId, table);
      place.resolve();
    },
  });
  await using data = await openData(dataDir, NEVER, embeddersWith(embedder), { wrapLog });
  await reached;
  // With the copy, as many tables as may be open.
  const busy = Array.from({ length: MOST_OPEN - 1 }, (_, n) =>
    data.store.use(`acc_${n.toString(16).padStart(16, "0")}`, () => (n ? end : place).promise),
  );
  go();
  await until("the write", () => writing);
  await writing;
  end.resolve();
  await Promise.all(busy);
  await untilDone(data);
  const { memories } = await data.memories.list(wholeAccount(ACCOUNT), { filter: {}, limit: 10 });
  expect(memories.map(({ id }) => id).sort()).toEqual(ids.slice(1).sort());
});
