import { expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Entry, Log } from "../../src/memories/log/log.ts";
import type { Memory } from "../../src/memories/memory.ts";
import type { StoredMemory } from "../../src/memories/rows.ts";
import { WriterEnded } from "../../src/memories/writer.ts";
import type { LanceDb } from "../../src/native/lancedb.ts";
import { contentsOf } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { expectError } from "../support/errors.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { openData } from "../support/live-data.ts";
import { startServer } from "../support/server.ts";

const UNAVAILABLE = { status: 503, code: "unavailable" } as const;

/** A server whose commits are counted, and fail or wait when the test says so. */
async function startWatchedServer() {
  const watch = {
    commits: [] as Entry[],
    /** Rejects for commits that shall fail; resolves when one may be made. */
    gate: async (): Promise<void> => {},
  };
  const server = await startServer({
    wrapLog: (log) => ({
      ...log,
      async append(table, entry) {
        watch.commits.push(entry);
        await watch.gate();
        return await log.append(table, entry);
      },
    }),
  });
  return { server, watch, account: await server.account() };
}

const fail = async () => {
  throw new Error("the disk is full");
};

test("500 writes at once end as a model of them says, each seen by the next read", async () => {
  await using server = await startServer();
  const ada = await server.account();
  const model = new Map<string, Memory>();

  const work = async (worker: number) => {
    const mine: Memory[] = [];
    for (let step = 0; step < 10; step++) {
      const kind = (worker * 7 + step * 3) % 5;
      const [oldest] = mine;
      if (!oldest || kind < 2) {
        const saved = await ada.save({
          content: `worker${worker} step${step}`,
          tags: [`w${worker}`],
        });
        expect(model.has(saved.id)).toBe(false);
        mine.push(saved);
        model.set(saved.id, saved);
        expect(await ada.get(saved.id)).toEqual(saved);
      } else if (kind < 4) {
        const content = `worker${worker} changed${step}\n\nwith a second passage`;
        const updated = await ada.update(oldest.id, kind === 2 ? { content } : { importance: 0.9 });
        mine[0] = updated;
        model.set(updated.id, updated);
        expect(await ada.get(updated.id)).toEqual(updated);
      } else {
        await ada.remove(oldest.id);
        mine.shift();
        model.delete(oldest.id);
        expect((await ada.send("GET", `/memories/${oldest.id}`)).status).toBe(404);
      }
      if (step % 5 < 4) continue;
      const listed = await ada.list({ tags: `w${worker}`, limit: 100 });
      expect(listed.memories.toSorted(byId)).toEqual(mine.toSorted(byId));
    }
  };
  await Promise.all(Array.from({ length: 50 }, (_, worker) => work(worker)));

  const all: Memory[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page = await ada.list({ limit: 100, ...(cursor && { cursor }) });
    all.push(...page.memories);
    cursor = page.next_cursor;
  }
  expect(all.length).toBeGreaterThan(50);
  expect(all.toSorted(byId)).toEqual([...model.values()].toSorted(byId));
  for (const { id, content } of all.slice(0, 10)) {
    const found = await ada.search(content, { mode: "semantic", limit: 100 });
    expect(found.filter((memory) => memory.id === id)).toHaveLength(1);
  }
}, 30_000);

const byId = (a: Memory, b: Memory) => (a.id < b.id ? -1 : 1);

test("writes that come while a commit runs share the next one", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  await account.save({ content: "first" });
  watch.commits.length = 0;
  const saved = await Promise.all(
    Array.from({ length: 200 }, (_, index) => account.save({ content: `memory ${index}` })),
  );
  expect(new Set(saved.map(({ id }) => id)).size).toBe(200);
  expect(watch.commits.length).toBeLessThan(40);
  // A change and a deletion need a commit each at the most, however many there are.
  watch.commits.length = 0;
  await Promise.all([
    ...saved.slice(0, 50).map(({ id }) => account.update(id, { importance: 1 })),
    ...saved.slice(50, 100).map(({ id }) => account.remove(id)),
  ]);
  expect(watch.commits.length).toBeLessThan(20);
});

test("what one commit removes by id and by two filters is removed and counted once", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  const saved = await account.saveAll(
    ["one", "two", "three"].map((content) => ({ content, tags: ["old"] })),
  );
  const gate = Promise.withResolvers<void>();
  watch.gate = () => gate.promise;
  const before = account.save({ content: "in the commit before" });
  while (watch.commits.length < 2) await Bun.sleep(1);
  const [id = ""] = saved.map((memory) => memory.id);
  const remove = async () => {
    const { status } = await account.send("DELETE", `/memories/${id}`);
    return status === 200 ? 1 : 0;
  };
  const query = { tags: "old" };
  const removals = [remove(), account.removeMatching(query), account.removeMatching(query)];
  const changed = account.send("PUT", `/memories/${saved[1]?.id}`, { json: { tags: ["new"] } });
  // All of them wait for the commit that can't go on.
  await account.list();
  gate.resolve();
  await before;
  const counts = await Promise.all(removals);
  const wasChanged = (await changed).status === 200;
  expect(counts.reduce((sum, count) => sum + count)).toBe(wasChanged ? 2 : 3);
  const { memories } = await account.list({ tags: "new" });
  expect(memories).toHaveLength(wasChanged ? 1 : 0);
});

test("a commit that fails is told to all in it, leaves nothing, and the next one works", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  const before = await account.save({ content: "before", tags: ["kept"] });

  watch.gate = fail;
  const answers = await Promise.all([
    ...Array.from({ length: 20 }, () =>
      account.send("POST", "/memories", { json: { content: "lost" } }),
    ),
    account.send("POST", "/memories/batch", { json: { memories: [{ content: "lost" }] } }),
    account.send("PUT", `/memories/${before.id}`, { json: { content: "lost" } }),
    account.send("DELETE", `/memories/${before.id}`),
    account.send("DELETE", "/memories?tags=kept"),
  ]);
  for (const answer of answers) {
    // Of the change and the deletions, one may have found the memory gone before the commit failed.
    if (answer.status !== 404) expectError(answer, UNAVAILABLE);
  }
  expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(20);
  watch.gate = async () => {};
  expect((await account.list()).memories).toEqual([before]);
  expect(contentsOf(await account.search("lost"))).toEqual(["before"]);

  const after = await account.save({ content: "after" });
  expect((await account.list()).memories).toEqual([after, before]);
});

test("an update whose commit fails has not happened, neither its text nor its passages", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  const before = await account.save({ content: "one\n\ntwo\n\nthree" });
  watch.gate = fail;
  const answer = await account.send("PUT", `/memories/${before.id}`, { json: { content: "four" } });
  expectError(answer, UNAVAILABLE);
  watch.gate = async () => {};
  expect(await account.get(before.id)).toEqual(before);
  const [found] = await account.search("three", { mode: "semantic" });
  expect(found?.score).toBeGreaterThan(0.9);
  expect(await account.search("four", { mode: "keyword" })).toEqual([]);
});

test("a request with an Idempotency-Key that failed may be tried again", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  const sending = { json: { content: "x" }, headers: { "idempotency-key": "k" } };
  await account.save({ content: "first" });
  watch.gate = fail;
  expectError(await account.send("POST", "/memories", sending), UNAVAILABLE);
  watch.gate = async () => {};
  const saved = await account.save(sending.json, sending.headers);
  expect((await account.save(sending.json, sending.headers)).id).toBe(saved.id);
  expect((await account.list()).memories).toHaveLength(2);
});

test("a write that was made is answered, also when nothing can be read after it", async () => {
  let isBroken = false;
  await using server = await startServer({ wrap: breakReads(() => isBroken) });
  const account = await server.account();
  // One alone would be looked for, and all be read into memory for that.
  const [first] = await account.saveAll([{ content: "first" }]);
  if (!first) throw new Error("nothing was saved");
  await untilFlushed(server, account.accountId);
  isBroken = true;
  // A base is read from a moment after it was recorded.
  const read = () => account.send("GET", `/memories/${first.id}`);
  while ((await read()).status === 200) await Bun.sleep(5);
  const headers = { "idempotency-key": "once" };
  const saved = await account.save({ content: "made" }, headers);
  expectError(await read(), UNAVAILABLE);
  const json = { content: "made, too" };
  const answer = await account.send("POST", "/memories?similar=true", { json });
  expect(answer).toMatchObject({ status: 201, body: { content: "made, too", similar: [] } });
  isBroken = false;
  expect((await account.list()).memories).toHaveLength(3);
  expect((await account.save({ content: "made" }, headers)).id).toBe(saved.id);
}, 30_000);

/** LanceDB whose tables can't be read while a test says so. */
function breakReads(isBroken: () => boolean) {
  return (lancedb: LanceDb): LanceDb => {
    const connect: LanceDb["connect"] = async (...args: unknown[]) => {
      const connection = await Reflect.apply(lancedb.connect, lancedb, args);
      const open = connection.openTable.bind(connection);
      const openTable = async (...args: Parameters<typeof open>) => {
        const table = await open(...args);
        const query = table.query.bind(table);
        const read = () => {
          if (isBroken()) throw new Error("lance error: LanceError(IO): it can't be read");
          return query();
        };
        return Object.assign(table, { query: read });
      };
      return Object.assign(connection, { openTable });
    };
    return { ...lancedb, connect };
  };
}

/** Waits until the base of an account has all that is in its log. */
async function untilFlushed({ log }: { log: Log }, accountId: string): Promise<void> {
  const end = performance.now() + 20_000;
  while ((await log.unflushed()).includes(accountId) || !(await log.head(accountId))?.checkpoint) {
    if (performance.now() > end) throw new Error("the log is not flushed");
    await Bun.sleep(20);
  }
}

test("more writes than may wait are refused at once, and the others are made", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  await account.save({ content: "first" });
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  watch.gate = () => opened;
  const outcomes = Array.from({ length: 6_000 }, (_, index) =>
    server.memories.create(wholeAccount(account.accountId), [{ content: `memory ${index}` }]).then(
      () => "made",
      (error) => `${error.code} ${error.retryAfter}`,
    ),
  );
  const refusal = await Promise.race(outcomes);
  expect(refusal).toBe("unavailable 1");
  open();
  const counts = Object.groupBy(await Promise.all(outcomes), (outcome) => outcome);
  expect(Object.keys(counts).toSorted()).toEqual(["made", "unavailable 1"]);
  expect(counts.made?.length).toBeGreaterThan(4_000);
  const deleted = await account.removeMatching({ created_before: "2100-01-01" });
  expect(deleted).toBe((counts.made?.length ?? 0) + 1);
}, 20_000);

test("no write is made behind a second end either, when the first one fails", async () => {
  await using data = await openData(temporaryFolder());
  await data.store.use("acc_0123456789abcdef", async ({ writer }) => {
    const first = writer.end(fail).catch(() => {});
    const gate = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const second = writer.end(() => {
      reached.resolve();
      return gate.promise;
    });
    await first;
    await reached.promise;
    const late = writer.change({ ids: [], apply() {} });
    await expect(late).rejects.toBeInstanceOf(WriterEnded);
    gate.resolve();
    await second;
    const later = writer.change({ ids: [], apply() {} });
    await expect(later).rejects.toBeInstanceOf(WriterEnded);
  });
});

test("no write is made behind the one that ends them, however many wait", async () => {
  await using data = await openData(temporaryFolder());
  const embedding = await fakeEmbedder().embedContent("x");
  const memory = (id: string): StoredMemory => ({
    ...{ id, ...embedding, content: "x", tags: [], agentId: null, sessionId: null, metadata: "{}" },
    ...{
      project: null,
      pinned: false,
      supersedes: null,
      supersededBy: null,
      source: null,
      expiresAt: null,
    },
    ...{ importance: 0.5, createdAt: 1, updatedAt: 1 },
  });
  await data.store.use("acc_0123456789abcdef", async ({ table, writer }) => {
    const written = Array.from({ length: 1_500 }, (_, n) =>
      writer.change({ ids: [], apply: (draft) => draft.put(memory(`id ${n}`)) }),
    );
    const last = await writer.end(async () => table.usage.memories);
    const answers = await Promise.allSettled(written);
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer] : []));
    expect(refused.length).toBe(written.length - last);
    expect(refused.every(({ reason }) => reason instanceof WriterEnded)).toBe(true);
    expect(refused.length).toBeGreaterThan(0);
    expect(table.usage.memories).toBe(last);
    expect(await table.select({})).toHaveLength(last);
  });
});
