import { expect, test } from "bun:test";
import { type Filter, type Position, passes } from "../../src/memories/model/filter.ts";
import type { SearchCandidates } from "../../src/memories/model/rows.ts";
import { askedOf, embedQuery, idOf, storedMemories, storedMemory } from "../support/bases.ts";
import { asEarlier, writeEarlierTable } from "../support/earlier-tables.ts";
import { idsIn, openKeptTable, TABLE, tableStorage } from "../support/kept-table.ts";

const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));

const byId = <Row extends { id: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));

test("a table that is not in memory counts no entry twice while a flush writes it into the base", async () => {
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isHeld = false;
  const storage = await tableStorage(async (step) => {
    if (!isHeld || step !== "added files kept") return;
    reached.resolve();
    await gate.promise;
  });
  const open = await openKeptTable(storage, { hasRoom: false });
  await open.put(...(await storedMemories(0, 20)));
  await open.flush.run("flush");
  await open.put(...(await storedMemories(20, 24)));
  isHeld = true;
  const running = open.flush.run("flush");
  await reached.promise;
  const wanted = times(24, idOf);
  expect(await idsIn(open)).toEqual(wanted);
  gate.resolve();
  // Until the flush has ended, and after it.
  let isOver = false;
  const flushing = running.finally(() => {
    isOver = true;
  });
  const ask = async () => {
    expect(await idsIn(open)).toEqual(wanted);
    expect(byId(await open.table.find(wanted)).map(({ id }) => id)).toEqual(wanted);
    const question = { vector: await embedQuery("number 21"), words: "number 21", filter: {} };
    const found = await open.table.candidates({ ...question, limit: 50, least: 50 });
    expect(byId(found.candidates.map(({ memory }) => memory)).map(({ id }) => id)).toEqual(wanted);
  };
  while (!isOver) await ask();
  await flushing;
  await ask();
});

test("a search finds what is written and misses what is deleted while its question is embedded", async () => {
  const { table, put, remove } = await openKeptTable(await tableStorage());
  await put(...(await storedMemories(0, 40)));
  const vector = await embedQuery("a quince");
  const asked = { words: "a quince", filter: {}, limit: 100, least: 100 };
  const before = await table.candidates({ ...asked, vector });
  const embedding = Promise.withResolvers<Float32Array | null>();
  const searching = table.candidates({ ...asked, vector: embedding.promise });
  await put(await storedMemory(41, { content: "a quince" }));
  await remove(idOf(3));
  embedding.resolve(vector);
  const found = await searching;
  expect(found).toEqual(await table.candidates({ ...asked, vector }));
  const idsOf = ({ candidates }: SearchCandidates) =>
    candidates.map(({ memory }) => memory.id).sort();
  const wanted = [...idsOf(before), idOf(41)].filter((id) => id !== idOf(3));
  expect(idsOf(found)).toEqual(wanted);
});

test("a search whose view is closed while its question is embedded reads the base", async () => {
  const { table, put, flush } = await openKeptTable(await tableStorage());
  await put(...(await storedMemories(0, 40)));
  await flush.run("flush");
  const vector = await embedQuery("number 7");
  const asked = { words: "number 7", filter: {}, limit: 100, least: 100 };
  const wanted = await table.candidates({ ...asked, vector });
  const embedding = Promise.withResolvers<Float32Array | null>();
  const searching = table.candidates({ ...asked, vector: embedding.promise });
  table.view.close();
  embedding.resolve(vector);
  const { candidates } = await searching;
  const idsOf = (found: SearchCandidates["candidates"]) =>
    found.map(({ memory }) => memory.id).sort();
  expect(idsOf(candidates)).toEqual(idsOf(wanted.candidates));
});

test("words find what is left after most of a table that is not in memory was deleted", async () => {
  const open = await openKeptTable(await tableStorage(), { hasRoom: false });
  await open.put(...(await storedMemories(0, 60)));
  await open.flush.run("flush");
  await open.remove(...times(58, idOf));
  await open.put(await storedMemory(60));
  const asked = { vector: null, words: "number", filter: {}, limit: 100, least: 100 };
  const { candidates } = await open.table.candidates(asked);
  expect(open.table.view.current).toBeNull();
  expect(candidates.map(({ memory }) => memory.id).sort()).toEqual([58, 59, 60].map(idOf));
});

test("token states of a changed memory are not taken from an earlier search", async () => {
  const storage = await tableStorage();
  const { table, put, flush } = await openKeptTable(storage, { hasRoom: false });
  await put(...(await storedMemories(0, 60)));
  await flush.run("flush");
  const { states } = await askedOf("quince");
  const compare = async () => (await table.interaction([idOf(3)], states, [1])).get(idOf(3));
  const search = async () =>
    await table.candidates({
      vector: await embedQuery("number 3"),
      words: "number 3",
      filter: {},
      limit: 100,
      least: 100,
    });
  await search();
  expect(await compare()).toBe(0);
  await put(await storedMemory(3, { content: "a quince" }));
  expect(await compare()).toBe(1);
  await flush.run("flush");
  expect(await compare()).toBe(1);
  await search();
  expect(await compare()).toBe(1);
});

test("a table of too many memories compares no token states", async () => {
  const storage = await tableStorage();
  const { table, put } = await openKeptTable(storage);
  await put(...(await storedMemories(0, 5)));
  const { states } = await askedOf("number 3");
  const compared = async () => (await table.interaction([idOf(3)], states, [1, 1])).size;
  expect(await compared()).toBe(1);
  table.recount({ memories: 1_000_000, bytes: 1 });
  expect(await compared()).toBe(0);
});

test("reads during a flush return each memory once", async () => {
  const storage = await tableStorage();
  const open = await openKeptTable(storage, { hasRoom: false });
  await open.put(...(await storedMemories(0, 300)));
  await open.flush.run("flush");
  for (let round = 0; round < 5; round++) {
    const rows = open.table.rows();
    const seen = [...((await rows.next()).value ?? [])];
    await open.put(await storedMemory(300 + round));
    await open.remove(idOf(round));
    const lists = times(8, () => open.table.list({}, null));
    const flushing = open.flush.run("flush");
    for await (const some of rows) seen.push(...some);
    await flushing;
    for (const list of await Promise.all(lists)) expect(list).toHaveLength(300);
    // Each memory in its old or new state, and once.
    const ids = seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const number of times(290, (n) => n + 5)) expect(ids).toContain(idOf(number));
    expect(await storage.bases.vault.bases()).toHaveLength(1);
  }
});

test("a view that is filled during writes has all new memories and no removed ones", async () => {
  const storage = await tableStorage();
  const writing = await openKeptTable(storage);
  await writing.put(...(await storedMemories(0, 400)));
  await writing.flush.run("flush");
  await writing.put(await storedMemory(1, { content: "in the log" }));
  await writing.close();

  const open = await openKeptTable(storage);
  const { table } = open;
  expect(table.view.current).toBeNull();
  const filling = table.list({}, null);
  const expected = new Map(times(400, (n) => [idOf(n), `number ${n}`]));
  expected.set(idOf(1), "in the log");
  let number = 0;
  const writes = times(40, async (n) => {
    await Bun.sleep(n % 3);
    const at = (n * 37) % 400;
    if (n % 3 === 0) {
      expected.delete(idOf(at));
      await open.remove(idOf(at));
    } else if (n % 3 === 1) {
      if (!expected.has(idOf(at))) return;
      expected.set(idOf(at), `changed ${n}`);
      await open.put(await storedMemory(at, { content: `changed ${n}` }));
    } else {
      const added = 1_000 + number++;
      expected.set(idOf(added), `number ${added}`);
      await open.put(await storedMemory(added));
    }
  });
  const flushing = open.flush.run("flush");
  await Promise.all([filling, flushing, ...writes]);
  expect(table.view.current?.size).toBe(expected.size);
  const rows = (await Array.fromAsync(table.rows())).flat();
  expect(new Map(rows.map(({ id, content }) => [id, content]))).toEqual(expected);
  expect(table.usage.memories).toBe(expected.size);
});

test("simultaneous searches fill the view once", async () => {
  const storage = await tableStorage();
  const writing = await openKeptTable(storage);
  await writing.put(...(await storedMemories(0, 50)));
  await writing.flush.run("flush");
  await writing.close();
  let reads = 0;
  const open = await openKeptTable(storage);
  const { current } = open.table.base;
  if (!current) throw new Error("there is no base");
  const { read } = current;
  Object.assign(current, {
    read: () => {
      reads++;
      return read();
    },
  });
  const answers = await Promise.all(times(10, () => open.table.list({}, null)));
  for (const ids of answers) expect(ids).toHaveLength(50);
  expect(reads).toBe(1);
});

test("a large table of an earlier version answers every filter before it is rewritten", async () => {
  const storage = await tableStorage();
  const earlier = await Promise.all(
    Array.from({ length: 40 }, (_, number) =>
      storedMemory(number, {
        content: number === 0 ? "two\n\npassages" : `an apple number${number}`,
        tags: [`tag${number % 3}`, ...(number % 2 ? ["odd"] : [])],
        agentId: number % 4 ? `agent ${number % 4}` : null,
        sessionId: number % 5 ? `session ${number % 5}` : null,
      }),
    ),
  );
  const options = { moved: `${idOf(0)}#1`, isIndexed: true };
  const version = await writeEarlierTable(storage.bases.folder, TABLE, earlier, options);
  const files = await storage.bases.vault.files(TABLE);
  await storage.log.checkpoint(TABLE, { base: TABLE, version, files, upTo: 0 });
  const open = await openKeptTable(storage, { hasRoom: false });
  const { table } = open;
  expect(table.base.current).toMatchObject({ isUpToDate: false, isIndexed: true, rows: 41 });
  const added = await storedMemory(41, { content: "an apple that is pinned", project: "ctxd" });
  await open.put(added);
  await open.remove(idOf(7));
  const all = [...earlier.filter(({ id }) => id !== idOf(7)), added];
  const filters: Filter[] = [
    {},
    ...[{ tags: ["tag1", "odd"] }, { tags: ["tag1", "odd"], tagsMatch: "all" as const }],
    ...[{ agentId: "agent 2" }, { sessionId: "session 3" }],
    ...[
      { createdAfter: 9, createdBefore: 30 },
      { tags: ["odd"], createdAfter: 9 },
    ],
  ];
  const { vectors } = added;
  for (const filter of filters) {
    const passing = all.filter((memory) => passes(filter, memory)).map(({ id }) => id);
    expect({ filter, ids: await table.list(filter, null) }).toEqual({
      filter,
      ids: passing.toReversed(),
    });
    expect((await table.select(filter)).sort()).toEqual(passing);
    const question = { vector: vectors[0] ?? null, words: "apple", filter, limit: 99, least: 99 };
    const { candidates, terms } = await table.candidates(question);
    expect(candidates.map(({ memory }) => memory.id).sort()).toEqual(passing);
    const around = await table.ofSessions(["session 1", "session 3"], {
      filter,
      vector: null,
      terms,
    });
    const inThem = all.filter(
      (memory) => passes(filter, memory) && /[13]/.test(memory.sessionId ?? ""),
    );
    expect(around.map(({ memory }) => memory.id).sort()).toEqual(inThem.map(({ id }) => id));
  }
  expect(table.view.current).toBeNull();
  const { vectors: _, states: _states, ...row } = asEarlier(earlier[3] ?? added);
  expect(await table.find([idOf(3)])).toEqual([row]);
});

test("pages of a table that is not in memory have each memory once, also pending ones with the same time", async () => {
  const moment = { createdAt: 1_000, updatedAt: 1_000 };
  const storage = await tableStorage();
  const { table, put, flush } = await openKeptTable(storage, { hasRoom: false });
  await put(...(await Promise.all(times(20, (number) => storedMemory(number, moment)))));
  await flush.run("flush");
  await put(...(await Promise.all(times(20, (number) => storedMemory(20 + number, moment)))));
  expect(table.view.current).toBeNull();
  const ids: string[] = [];
  let after: Position | null = null;
  for (
    let page = await table.list({}, after, 3);
    page.length > 0;
    page = await table.list({}, after, 3)
  ) {
    ids.push(...page);
    after = { createdAt: moment.createdAt, id: page.at(-1) ?? "" };
  }
  expect(ids).toEqual(times(40, idOf).reverse());
});

test("a list has all memories of a commit or none", async () => {
  const storage = await tableStorage();
  const open = await openKeptTable(storage);
  expect(await idsIn(open)).toEqual([]);
  expect(open.table.view.current).not.toBeNull();
  // Their words take long enough that other tasks run meanwhile.
  const words = times(3_000, (number) => `word${number}`).join(" ");
  const memories = await Promise.all(
    times(64, (number) => storedMemory(number, { content: `${number} ${words}` })),
  );
  const seen = new Set<number>();
  let isOver = false;
  const writing = open.put(...memories).finally(() => {
    isOver = true;
  });
  while (!isOver) {
    seen.add((await open.table.select({})).length);
    seen.add((await open.table.list({}, null)).length);
    await new Promise(setImmediate);
  }
  await writing;
  expect(await idsIn(open)).toHaveLength(64);
  expect([...seen].filter((count) => count !== 0 && count !== 64)).toEqual([]);
  await open.close();
});
