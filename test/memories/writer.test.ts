import { expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Log } from "../../src/memories/log/log.ts";
import type { Entry } from "../../src/memories/log/records.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import type { LanceDb } from "../../src/native/lancedb.ts";
import { contentsOf } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const UNAVAILABLE = { status: 503, code: "unavailable" } as const;

/** A server whose commits are counted, and fail or wait when the test wants it. */
async function startWatchedServer() {
  const watch = {
    commits: [] as Entry[],
    /** Rejects to make a commit fail; resolves to let it continue. */
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

test("500 simultaneous writes give the expected memories, and the next read sees each", async () => {
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
});

const byId = (a: Memory, b: Memory) => (a.id < b.id ? -1 : 1);

test("writes during a commit share the next one", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  await account.save({ content: "first" });
  watch.commits.length = 0;
  const saved = await Promise.all(
    Array.from({ length: 200 }, (_, index) => account.save({ content: `memory ${index}` })),
  );
  expect(new Set(saved.map(({ id }) => id)).size).toBe(200);
  expect(watch.commits.length).toBeLessThan(40);
  // At most one commit for all changes, and one for all deletions.
  watch.commits.length = 0;
  await Promise.all([
    ...saved.slice(0, 50).map(({ id }) => account.update(id, { importance: 1 })),
    ...saved.slice(50, 100).map(({ id }) => account.remove(id)),
  ]);
  expect(watch.commits.length).toBeLessThan(20);
});

test("a memory that one commit removes by id and by two filters is counted once", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  const saved = await account.saveAll(
    ["one", "two", "three"].map((content) => ({ content, tags: ["old"] })),
  );
  const gate = Promise.withResolvers<void>();
  watch.gate = () => gate.promise;
  const before = account.save({ content: "in the commit before" });
  await until("the second commit", () => watch.commits.length >= 2);
  const [id = ""] = saved.map((memory) => memory.id);
  const remove = async () => {
    const { status } = await account.send("DELETE", `/memories/${id}`);
    return status === 200 ? 1 : 0;
  };
  const query = { tags: "old" };
  const removals = [remove(), account.removeMatching(query), account.removeMatching(query)];
  const changed = account.send("PUT", `/memories/${saved[1]?.id}`, { json: { tags: ["new"] } });
  // All changes wait for the blocked commit.
  await account.list();
  gate.resolve();
  await before;
  const counts = await Promise.all(removals);
  const wasChanged = (await changed).status === 200;
  expect(counts.reduce((sum, count) => sum + count)).toBe(wasChanged ? 2 : 3);
  const { memories } = await account.list({ tags: "new" });
  expect(memories).toHaveLength(wasChanged ? 1 : 0);
});

test("a failed commit fails all its changes, and the next one succeeds", async () => {
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
    // One of these may have found that another one had deleted the memory, before the commit failed.
    if (answer.status !== 404) expectError(answer, UNAVAILABLE);
  }
  expect(answers.filter(({ status }) => status === 503).length).toBeGreaterThan(20);
  watch.gate = async () => {};
  expect((await account.list()).memories).toEqual([before]);
  expect(contentsOf(await account.search("lost"))).toEqual(["before"]);

  const after = await account.save({ content: "after" });
  expect((await account.list()).memories).toEqual([after, before]);
});

test("an update whose commit fails changes neither text nor passages", async () => {
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

test("a failed request with an Idempotency-Key can be repeated", async () => {
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

test("a committed write is answered, also if nothing can be read afterwards", async () => {
  let isBroken = false;
  await using server = await startServer({
    wrap: breakReads(() => isBroken),
    due: { ...UPKEEP_LIMITS, idle: 1_000 },
  });
  const account = await server.account();
  // A single memory would be checked for duplicates, which fills the view.
  const [first] = await account.saveAll([{ content: "first" }]);
  if (!first) throw new Error("nothing was saved");
  await untilFlushed(server, account.accountId);
  isBroken = true;
  // The base is read shortly after it is recorded.
  const read = () => account.send("GET", `/memories/${first.id}`);
  await until("a failed read", async () => (await read()).status !== 200);
  const headers = { "idempotency-key": "once" };
  const saved = await account.save({ content: "made" }, headers);
  expectError(await read(), UNAVAILABLE);
  const json = { content: "made, too" };
  const answer = await account.send("POST", "/memories?similar=true", { json });
  expect(answer).toMatchObject({ status: 201, body: { content: "made, too", similar: [] } });
  isBroken = false;
  expect((await account.list()).memories).toHaveLength(3);
  expect((await account.save({ content: "made" }, headers)).id).toBe(saved.id);
});

/** LanceDB whose tables can't be read while `isBroken`. */
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

/** Waits until an account's log is flushed. */
async function untilFlushed({ log }: { log: Log }, accountId: string): Promise<void> {
  await until("a flushed log", async () => {
    if ((await log.entries(accountId)).length > 0) return false;
    return (await log.head(accountId))?.checkpoint ?? null;
  });
}

test("writes beyond the limit of waiting ones are refused, and the others succeed", async () => {
  const { server, watch, account } = await startWatchedServer();
  await using _ = server;
  await account.save({ content: "first" });
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  watch.gate = () => opened;
  const outcomes = Array.from({ length: 6_000 }, (_, index) =>
    server.memories.saveAll(wholeAccount(account.accountId), [{ content: `memory ${index}` }]).then(
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
});
