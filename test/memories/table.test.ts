import { describe, expect, test } from "bun:test";
import { type Filter, type Position, passes } from "../../src/memories/filter.ts";
import type { Candidate, Found, StoredMemory } from "../../src/memories/rows.ts";
import type { KeptTable } from "../../src/memories/table.ts";
import {
  askedOf,
  embedContent,
  embedQuery,
  idOf,
  storedMemories,
  storedMemory,
} from "../support/bases.ts";
import { bm25Of } from "../support/bm25.ts";
import { cosine } from "../support/cosine.ts";
import { asEarlier, writeEarlierTable } from "../support/earlier-tables.ts";
import { idsIn, openKeptTable, TABLE, tableStorage } from "../support/kept-table.ts";
import { createRandom } from "../support/random.ts";

/** The same number gives the same memories and questions. */
const random = createRandom(Number(process.env.SEED ?? 1));

const WORDS = "ferry harbour lantern violin orchard glacier pepper thimble walnut copper".split(
  " ",
);
const times = <Value>(count: number, make: (index: number) => Value) =>
  Array.from({ length: count }, (_, index) => make(index));
const pick = <Value>(values: readonly Value[]): Value => {
  const value = random.pick(values);
  if (value === undefined) throw new Error("nothing to pick from");
  return value;
};
const maybe = <Value>(value: Value) => (random.below(2) ? value : null);

const sentence = () => times(2 + random.below(6), () => pick(WORDS)).join(" ");

/** A memory of some of the words, of one to three passages, with any fields. */
async function anyMemory(number: number): Promise<StoredMemory> {
  const content = times(1 + random.below(3), sentence).join("\n\n");
  const createdAt = random.below(50);
  return await storedMemory(number, {
    content,
    tags: times(random.below(3), () => pick(["red", "green", "it's", "a%b"])).filter(
      (tag, place, all) => all.indexOf(tag) === place,
    ),
    agentId: maybe(pick(["planner", "coder"])),
    sessionId: maybe(pick(["monday", "tuesday"])),
    project: maybe("ctxd"),
    importance: random.below(11) / 10,
    pinned: random.below(2) === 0,
    createdAt,
    updatedAt: createdAt + random.below(50),
    expiresAt: maybe(5_000_000),
    vectors: await embedContent(content),
  });
}

function anyFilter(): Filter {
  const at = random.below(50);
  return {
    ...(random.below(4) === 0 && {
      tags: times(1 + random.below(2), () => pick(["red", "it's", "none"])),
    }),
    ...(random.below(4) === 0 && { tagsMatch: pick(["any", "all"] as const) }),
    ...(random.below(4) === 0 && { agentId: pick(["planner", "nobody"]) }),
    ...(random.below(4) === 0 && { sessionId: pick(["monday", "never"]) }),
    ...(random.below(4) === 0 && { createdAfter: at }),
    ...(random.below(4) === 0 && { createdBefore: at + random.below(40) }),
    ...(random.below(4) === 0 && { projects: [pick(["ctxd", null])], isBound: true }),
  };
}

/**
 * BM25 of both may differ by this share where so many memories are considered; where there are fewer,
 * a word counts or not in both. What is not in memory measures lengths by those of the candidates alone,
 * and counts words in texts that the log has replaced too. Nothing else may differ.
 */
const TOLERANCE = 0.2;
const ENOUGH = 40;

const byId = <Row extends { id: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** Holds answers of a table that is in memory against those of one that isn't. */
async function compare(inMemory: KeptTable, stored: KeptTable, all: readonly string[]) {
  expect(stored.usage).toEqual(inMemory.usage);
  const ids = [...times(5, () => pick(all)), "mem_unknown"];
  expect(byId(await stored.find(ids))).toEqual(byId(await inMemory.find(ids)));
  const rows = async (table: KeptTable) => byId((await Array.fromAsync(table.rows())).flat());
  expect((await rows(stored)).map(({ id }) => id)).toEqual(
    (await rows(inMemory)).map(({ id }) => id),
  );

  for (let round = 0; round < 12; round++) {
    const filter = anyFilter();
    const isBackward = random.below(2) === 0;
    const from = maybe({ id: pick(all), createdAt: random.below(50), isBackward });
    const limit = maybe(1 + random.below(20));
    const listed = (table: KeptTable) =>
      limit === null ? table.list(filter, from) : table.list(filter, from, limit);
    expect({ filter, from, limit, ids: await listed(stored) }).toEqual({
      ...{ filter, from, limit },
      ids: await listed(inMemory),
    });
    expect(await stored.count(filter)).toBe(await inMemory.count(filter));
    expect((await stored.select(filter)).sort()).toEqual((await inMemory.select(filter)).sort());
  }

  for (let round = 0; round < 12; round++) {
    const text = sentence();
    const vector = round % 3 === 0 ? null : await embedQuery(text);
    const words = round % 3 === 1 ? null : text;
    const question = { vector, words, filter: anyFilter(), limit: 300, least: 300 };
    const found = await stored.candidates(question);
    const wanted = await inMemory.candidates(question);
    expectAlike(found, wanted, JSON.stringify({ ...question, vector: vector !== null }));
    const sessions = ["monday", "never"];
    const asked = { filter: question.filter, vector, terms: wanted.terms };
    expectAlike(
      { ...found, candidates: await stored.ofSessions(sessions, asked) },
      { ...wanted, candidates: await inMemory.ofSessions(sessions, asked) },
      JSON.stringify(question.filter),
    );
    const { states } = await askedOf(text);
    const weights = states.words.map((_, at) => 1 + at);
    const some = [...times(8, () => pick(all)), "mem_unknown"];
    expect(await stored.interaction(some, states, weights)).toEqual(
      await inMemory.interaction(some, states, weights),
    );
    expectSameVectors(await stored.vectorsOf(some), await inMemory.vectorsOf(some));
    for (const { id, content, vectors } of await stored.load(some)) {
      const [first = null] = vectors;
      const same = await stored.withText(` ${content}\n`, first);
      expect(same.map((row) => row.id)).toContain(id);
      expect(byId(same)).toEqual(byId(await inMemory.withText(content, first)));
      expect(await stored.withText(`${content}, too`, first)).toEqual([]);
    }
  }
}

/** Those in memory are bytes. */
function expectSameVectors(
  found: ReadonlyMap<string, Float32Array>,
  wanted: ReadonlyMap<string, Float32Array>,
) {
  expect([...found.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [id, vector] of found) {
    expect(cosine(vector, wanted.get(id) ?? new Float32Array(vector.length))).toBeCloseTo(1, 1);
  }
}

/** Whether candidates are the same, with the same cosines and about the same BM25. */
function expectAlike(found: Found, wanted: Found, question: string) {
  const parts = (candidates: readonly Candidate[]) =>
    candidates
      .toSorted((a, b) => (a.memory.id < b.memory.id ? -1 : 1))
      .map(({ memory, cosine, passage }) => ({ memory, cosine, passage, question }));
  expect(parts(found.candidates)).toEqual(parts(wanted.candidates));
  expect(found.memories).toEqual(wanted.memories);
  const scores = new Map(
    wanted.candidates.map((one) => [one.memory.id, bm25Of(one, wanted.terms)] as const),
  );
  const share = wanted.candidates.length >= ENOUGH ? TOLERANCE : 1;
  for (const { memory, ...one } of found.candidates) {
    const bm25 = bm25Of(one, found.terms);
    const expected = scores.get(memory.id) ?? Number.NaN;
    const isAlike = bm25 > 0 === expected > 0 && Math.abs(bm25 - expected) <= share * expected;
    expect({ question, id: memory.id, bm25, expected, isAlike }).toMatchObject({ isAlike: true });
  }
}

describe("a table that does not fit in memory answers as one that does,", () => {
  for (const hasRoom of [true, false]) {
    test(`with its base alone, with entries in the log, and with a log alone (${hasRoom ? "written in memory" : "never in memory"})`, async () => {
      const storage = await tableStorage();
      const writing = await openKeptTable(storage, { hasRoom });
      const first = await Promise.all(times(200, anyMemory));
      const ids = first.map(({ id }) => id);
      let compared = 0;
      const both = async () => {
        const inMemory = await openKeptTable(storage);
        const stored = await openKeptTable(storage, { hasRoom: false });
        await compare(inMemory.table, stored.table, ids);
        expect(inMemory.table.view.current).not.toBeNull();
        // One without indexes is of no use to searches.
        const isIndexed = stored.table.base.current?.isIndexed ?? false;
        expect(stored.table.view.current === null).toBe(isIndexed);
        if (isIndexed) compared++;
        await inMemory.close();
        await stored.close();
      };
      await writing.put(...first);
      await both();
      await writing.flush.run("flush");
      await both();
      // Some are changed, some go, others come.
      const changed = await Promise.all(times(8, (n) => anyMemory(n * 3)));
      await writing.put(...changed);
      await writing.remove(...times(4, (n) => idOf(n * 7)));
      await writing.put(...(await Promise.all(times(5, (n) => anyMemory(300 + n)))));
      await both();
      await writing.flush.run("flush");
      await both();
      // A flush that adds to a large base, which has indexes then that do not know of it.
      await writing.flush.run("index");
      await writing.put(...(await Promise.all(times(5, (n) => anyMemory(400 + n)))));
      await writing.flush.run("flush");
      await both();
      expect(compared).toBeGreaterThan(0);
    }, 60_000);
  }
});

test("a table that is not in memory takes no account of entries twice while a flush takes them over", async () => {
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
  // At every moment until it has ended, and after.
  let isOver = false;
  const flushing = running.then(() => {
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

test("memories are compared as they are now, though a question has just read what they were", async () => {
  const storage = await tableStorage();
  const { table, put, flush } = await openKeptTable(storage, { hasRoom: false });
  await put(...(await storedMemories(0, 60)));
  await flush.run("flush");
  const { states } = await askedOf("quince");
  const compare = async () => (await table.interaction([idOf(3)], states, [1])).get(idOf(3));
  const search = async () =>
    await table.candidates({
      ...{ vector: await embedQuery("number 3"), words: "number 3", filter: {} },
      ...{ limit: 100, least: 100 },
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

test("a table of too many memories compares no words by meaning", async () => {
  const storage = await tableStorage();
  const { table, put } = await openKeptTable(storage);
  await put(...(await storedMemories(0, 5)));
  const { states } = await askedOf("number 3");
  const compared = async () => (await table.interaction([idOf(3)], states, [1, 1])).size;
  expect(await compared()).toBe(1);
  table.recount({ memories: 1_000_000, bytes: 1 });
  expect(await compared()).toBe(0);
});

test("reads that run while a flush replaces the base answer from what was there", async () => {
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
    // As it was when it was asked for, or as it is since; nothing twice.
    const ids = seen.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    for (const number of times(290, (n) => n + 5)) expect(ids).toContain(idOf(number));
    expect(await storage.bases.vault.bases()).toHaveLength(1);
  }
});

test("a view that is filled while writes come has all of them, and nothing that went", async () => {
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

test("a search in a table of which nothing is in memory yet fills the view once", async () => {
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

test("a large table of the earlier version answers before it is rewritten, whatever the filter", async () => {
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
      ...{ filter, vector: null, terms },
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

test("pages of a table that is not in memory have each memory once, also those of one moment in the log", async () => {
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

test("who lists sees all of a commit or nothing, also while it is brought into memory", async () => {
  const storage = await tableStorage();
  const open = await openKeptTable(storage);
  expect(await idsIn(open)).toEqual([]);
  expect(open.table.view.current).not.toBeNull();
  // Their words take long enough for others to have their turn between.
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
