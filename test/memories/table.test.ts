import { describe, expect, test } from "bun:test";
import { type Filter, ORDERS } from "../../src/memories/model/filter.ts";
import type {
  Candidate,
  MemoryRow,
  SearchCandidates,
  StoredMemory,
} from "../../src/memories/model/rows.ts";
import type { KeptTable } from "../../src/memories/table/table.ts";
import { askedOf, embedContent, embedQuery, idOf, storedMemory } from "../support/bases.ts";
import { bm25Of } from "../support/bm25.ts";
import { cosine } from "../support/cosine.ts";
import { openKeptTable, tableStorage } from "../support/kept-table.ts";
import { createRandom } from "../support/random.ts";
import { until } from "../support/until.ts";

/** The same seed gives the same memories and questions. */
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

/** A memory of random words, with one to three passages and random fields. */
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
 * The largest relative difference of BM25 with at least `ENOUGH` candidates; with fewer, a word counts or
 * does not count in both. A table that is not in memory takes the mean length from the candidates, and
 * counts words of texts that the log has replaced. Nothing else may differ.
 */
const TOLERANCE = 0.2;
const ENOUGH = 40;
/** Of questions in each of twelve states: two of each kind, and 72 in all. */
const ROUNDS = 6;

const byId = <Row extends { id: string }>(rows: readonly Row[]) =>
  rows.toSorted((a, b) => (a.id < b.id ? -1 : 1));

/** The rows of memories, in order. Those of the log still have their vectors and token states. */
const rowsOf = (found: readonly (MemoryRow & Partial<StoredMemory>)[]) =>
  byId(found).map(({ vectors: _vectors, states: _states, ...row }) => row);

/** Compares the answers of a table in memory with those of one that is not. */
async function compare(inMemory: KeptTable, stored: KeptTable, all: readonly string[]) {
  expect(stored.usage).toEqual(inMemory.usage);
  const ids = [...new Set([...times(5, () => pick(all)), "mem_unknown"])];
  expect(rowsOf(await stored.find(ids))).toEqual(rowsOf(await inMemory.find(ids)));
  const rows = async (table: KeptTable) => byId((await Array.fromAsync(table.rows())).flat());
  expect((await rows(stored)).map(({ id }) => id)).toEqual(
    (await rows(inMemory)).map(({ id }) => id),
  );

  for (let round = 0; round < ROUNDS; round++) {
    const filter = anyFilter();
    const isBackward = random.below(2) === 0;
    // A cursor has the position of a memory, which may have been deleted since.
    const [last] = await inMemory.find([pick(all)]);
    const position = last ?? { id: idOf(9_999), createdAt: random.below(50), importance: 0.5 };
    const { id, createdAt, importance } = position;
    const from = maybe({ id, createdAt, importance, isBackward });
    const limit = maybe(1 + random.below(20)) ?? undefined;
    const order = random.pick(ORDERS);
    const listed = (table: KeptTable) => table.list(filter, from, limit, order);
    const asked = { filter, from, limit, order };
    expect({ ...asked, ids: await listed(stored) }).toEqual({
      ...asked,
      ids: await listed(inMemory),
    });
    expect(await stored.count(filter)).toBe(await inMemory.count(filter));
    expect((await stored.select(filter)).sort()).toEqual((await inMemory.select(filter)).sort());
  }

  for (let round = 0; round < ROUNDS; round++) {
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
    for (const { id, content, vectors } of await stored.load(some.slice(0, 2))) {
      const [first = null] = vectors;
      const same = await stored.withText(` ${content}\n`, first);
      expect(same.map((row) => row.id)).toContain(id);
      expect(rowsOf(same)).toEqual(rowsOf(await inMemory.withText(content, first)));
      expect(await stored.withText(`${content}, too`, first)).toEqual([]);
    }
  }
}

/** Vectors in memory are bytes. */
function expectSameVectors(
  found: ReadonlyMap<string, Float32Array>,
  wanted: ReadonlyMap<string, Float32Array>,
) {
  expect([...found.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [id, vector] of found) {
    expect(cosine(vector, wanted.get(id) ?? new Float32Array(vector.length))).toBeCloseTo(1, 1);
  }
}

/** Expects the same candidates with the same cosines and about the same BM25. */
function expectAlike(found: SearchCandidates, wanted: SearchCandidates, question: string) {
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

describe("a table that does not fit in memory answers like one that does", () => {
  for (const hasRoom of [true, false]) {
    test(`with a base, with a base and a log, and with a log (${hasRoom ? "written in memory" : "never in memory"})`, async () => {
      const storage = await tableStorage();
      const writing = await openKeptTable(storage, { hasRoom });
      const first = await Promise.all(times(200, anyMemory));
      const ids = first.map(({ id }) => id);
      let compared = 0;
      const both = async () => {
        const inMemory = await openKeptTable(storage);
        const stored = await openKeptTable(storage, { hasRoom: false });
        // A large table answers its first questions from its base.
        await inMemory.table.count({});
        await until("the memories are in memory", () => inMemory.table.view.current);
        await compare(inMemory.table, stored.table, ids);
        // Searches can't use a base without indexes.
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
      // Changes some memories, removes some and adds others.
      const changed = await Promise.all(times(8, (n) => anyMemory(n * 3)));
      await writing.put(...changed);
      await writing.remove(...times(4, (n) => idOf(n * 7)));
      await writing.put(...(await Promise.all(times(5, (n) => anyMemory(300 + n)))));
      await both();
      await writing.flush.run("flush");
      await both();
      // A flush that appends to a large base, whose indexes then lack the new rows.
      await writing.flush.run("index");
      await writing.put(...(await Promise.all(times(5, (n) => anyMemory(400 + n)))));
      await writing.flush.run("flush");
      await both();
      expect(compared).toBeGreaterThan(0);
    });
  }
});
