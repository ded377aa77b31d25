import { expect, test } from "bun:test";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { type Filter, ORDERS, type Position, passes } from "../../../src/memories/model/filter.ts";
import type {
  Candidate,
  SearchCandidates,
  StoredMemory,
} from "../../../src/memories/model/rows.ts";
import { createView, type View } from "../../../src/memories/view/view.ts";
import { bm25Of } from "../../support/bm25.ts";
import { cosine } from "../../support/cosine.ts";
import {
  DIMENSION,
  filterOf,
  maybe,
  memoryOf,
  random,
  SESSIONS,
  some,
  times,
  vectorOf,
  WORDS,
} from "./random-memories.ts";

/** What bytes in place of numbers change in a cosine, at the most. */
const ROUGH = 0.02;

function rowOf({ vectors: _, states: _states, ...row }: StoredMemory) {
  return row;
}

/** BM25 of each memory, computed from the texts. Captured ones make no word of saved ones less rare. */
function scoresOf(
  question: string,
  memories: readonly StoredMemory[],
  { isCaptured }: Filter,
): Map<string, number> {
  const texts = memories.map(({ id, content, source }) => ({
    ...{ id, tokens: tokensOf(content) },
    isCounted: isCaptured !== false || source?.via !== "capture",
  }));
  const counted = texts.filter((text) => text.isCounted).length;
  const average = texts.reduce((sum, { tokens }) => sum + tokens.length, 0) / texts.length;
  const scores = new Map<string, number>();
  for (const token of new Set(tokensOf(question))) {
    const having = texts.filter(({ tokens }) => tokens.includes(token));
    const countedHaving = having.filter((text) => text.isCounted).length;
    const idf = Math.log(1 + (counted - countedHaving + 0.5) / (countedHaving + 0.5));
    for (const { id, tokens } of having) {
      const count = tokens.filter((other) => other === token).length;
      const norm = 1.2 * (0.25 + (0.75 * tokens.length) / average);
      scores.set(id, (scores.get(id) ?? 0) + (idf * 2.2 * count) / (count + norm));
    }
  }
  return scores;
}

const cosineOf = (memory: StoredMemory, query: Float32Array) =>
  Math.max(...memory.vectors.map((vector) => cosine(vector, query)));

/** A view and what it must have. */
function createPair() {
  const view = createView(DIMENSION);
  const memories = new Map<string, StoredMemory>();
  return {
    view,
    memories,
    put(memory: StoredMemory) {
      view.put(memory);
      memories.set(memory.id, memory);
    },
    remove(id: string) {
      view.remove(id);
      memories.delete(id);
    },
  };
}

function checkRows(view: View, memories: ReadonlyMap<string, StoredMemory>) {
  expect(view.size).toBe(memories.size);
  const rows = [...view.rows()];
  expect(rows.length).toBe(memories.size);
  for (const row of rows) {
    const memory = memories.get(row.id);
    expect(row as unknown).toEqual(memory && rowOf(memory));
    expect(view.get(row.id)).toEqual(row);
  }
  expect(view.get("nowhere")).toBeNull();
}

/** Finds memories by id, for `passes`. */
const finderIn = (memories: ReadonlyMap<string, StoredMemory>) => (id: string) => memories.get(id);

function checkList(view: View, memories: ReadonlyMap<string, StoredMemory>) {
  const filter = filterOf();
  const passing = [...memories.values()].filter((memory) =>
    passes(filter, memory, finderIn(memories)),
  );
  expect(view.select(filter).sort()).toEqual(passing.map(({ id }) => id).sort());
  const after: Position | null = maybe({
    createdAt: random.below(60),
    id: `id ${random.below(99)}`,
    importance: random.below(10) / 10,
  });
  expect(view.count(filter)).toBe(passing.length);
  const order = random.pick(ORDERS) ?? "newest";
  /** Texts in the same order as the memories. */
  const keyOf = ({ importance = 0, createdAt, id }: Position) =>
    `${order === "importance" ? importance : ""} ${String(createdAt).padStart(2, "0")} ${id}`;
  const all = passing.sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : -1));
  const isAfter = (each: Position) => after === null || keyOf(each) < keyOf(after);
  const listed = all.filter(isAfter).map(({ id }) => id);
  expect(view.list(filter, after, undefined, order)).toEqual(listed);
  const limit = random.below(20);
  expect(view.list(filter, after, limit, order)).toEqual(listed.slice(0, limit));
  if (after === null) return;
  const before = all.filter((each) => !isAfter(each) && each.id !== after.id).map(({ id }) => id);
  const from = { ...after, isBackward: true };
  expect(view.list(filter, from, undefined, order)).toEqual(before);
  expect(view.list(filter, from, limit, order)).toEqual(limit === 0 ? [] : before.slice(-limit));
}

function checkCandidates(view: View, memories: ReadonlyMap<string, StoredMemory>) {
  const filter = filterOf();
  const vector = random.below(4) === 0 ? null : vectorOf();
  const words = random.below(4) === 0 ? null : times(3, () => random.pick(WORDS)).join(" ");
  const [limit, least] = [1 + random.below(12), 1 + random.below(12)];
  const { candidates: found, terms } = view.candidates({ vector, words, filter, limit, least });
  const byId = checkEach(found, memories, filter, vector);

  const passing = [...memories.values()].filter((memory) =>
    passes(filter, memory, finderIn(memories)),
  );
  const scores = words === null ? new Map() : scoresOf(words, [...memories.values()], filter);
  const best = passing
    .map(({ id }) => scores.get(id) ?? 0)
    .filter((score) => score > 0)
    .sort((a, b) => b - a)
    .slice(0, limit);
  for (const { memory, ...one } of found) {
    expect(bm25Of(one, terms)).toBeCloseTo(scores.get(memory.id) ?? 0, 3);
  }
  const matching = found.map((one) => bm25Of(one, terms)).sort((a, b) => b - a);
  for (const [place, score] of best.entries()) expect(matching[place]).toBeCloseTo(score, 3);

  if (vector === null) {
    expect(found.length).toBe(best.length);
    return;
  }
  const passages = passing
    .flatMap((memory) => memory.vectors.map((own) => ({ memory, cosine: cosine(own, vector) })))
    .sort((a, b) => b.cosine - a.cosine);
  const last = passages[limit - 1]?.cosine ?? -2;
  for (const { memory, cosine } of passages) {
    if (cosine > last + ROUGH) expect(byId.has(memory.id)).toBeTrue();
  }
  expect(found.length).toBeGreaterThanOrEqual(Math.min(least, passing.length));
  const near = found.filter((one) => bm25Of(one, terms) === 0);
  // Four times as many are looked at while there are too few different ones.
  if (limit >= least * 3) expect(near.length).toBeLessThanOrEqual(limit);
}

function checkEach(
  found: readonly Candidate[],
  memories: ReadonlyMap<string, StoredMemory>,
  filter: Filter,
  vector: Float32Array | null,
) {
  const byId = new Map(found.map((candidate) => [candidate.memory.id, candidate]));
  expect(byId.size).toBe(found.length);
  for (const { memory, cosine } of found) {
    const stored = memories.get(memory.id);
    if (!stored) throw new Error(`${memory.id} is not there`);
    expect(memory).toEqual(rowOf(stored));
    expect(passes(filter, stored, finderIn(memories))).toBeTrue();
    if (vector === null) expect(cosine).toBeNull();
    else expect(Math.abs((cosine ?? 9) - cosineOf(stored, vector))).toBeLessThan(ROUGH);
  }
  return byId;
}

function checkSessions(view: View, memories: ReadonlyMap<string, StoredMemory>) {
  const filter = filterOf();
  const vector = maybe(vectorOf());
  const sessions = [...some(SESSIONS), ...some(SESSIONS), ...(maybe(["never"]) ?? [])];
  const limit = 1 + random.below(60);
  const terms = view.candidates({ vector, words: "apple", filter, limit: 1, least: 1 }).terms;
  const found = view.ofSessions(sessions, { filter, vector, terms }, limit);
  const scores = scoresOf("apple", [...memories.values()], filter);
  for (const { memory, ...one } of found) {
    expect(bm25Of(one, terms)).toBeCloseTo(scores.get(memory.id) ?? 0, 3);
  }
  checkEach(found, memories, filter, vector);
  const wanted = [...memories.values()].filter(
    (memory) =>
      sessions.includes(memory.sessionId ?? "") && passes(filter, memory, finderIn(memories)),
  );
  expect(found.length).toBe(Math.min(limit, wanted.length));
  for (const { memory } of found) expect(sessions).toContain(memory.sessionId ?? "");
}

test("a view has what was put and not removed, however it is asked", () => {
  const { view, memories, put, remove } = createPair();
  const other = createPair();
  for (let turn = 0; turn < 60; turn++) {
    const goes = turn % 20 === 19 ? 200 : random.below(30);
    for (let count = 0; count < goes; count++) remove(`id ${random.below(120)}`);
    for (let count = random.below(60); count > 0; count--) {
      const memory = memoryOf(`id ${random.below(120)}`);
      const former = memories.get(memory.id);
      // Often all but the text changes.
      put(former && random.below(2) === 0 ? { ...memory, content: former.content } : memory);
      // Another one that uses the same memory.
      other.put(memoryOf(`id ${random.below(120)}`));
    }
    checkRows(view, memories);
    for (let question = 0; question < 8; question++) {
      checkList(view, memories);
      checkCandidates(view, memories);
      checkSessions(view, memories);
    }
  }
  checkRows(other.view, other.memories);
  checkCandidates(other.view, other.memories);
});

test("what is removed takes its memory with it", () => {
  const { view, put, remove } = createPair();
  const empty = view.bytes;
  let name = 0;
  const putAll = () => {
    for (let id = 0; id < 3_000; id++) {
      const by = `laptop ${++name}`;
      const source = { via: "api" as const, by, id: "key_1" };
      const rare = { source, tags: [by], agentId: by, sessionId: by, project: by, supersedes: by };
      put({ ...memoryOf(`id ${id}`), ...rare, content: `the word${name} again` });
    }
  };
  putAll();
  const full = view.bytes;
  for (let round = 0; round < 2; round++) {
    for (let id = 0; id < 3_000; id++) remove(`id ${id}`);
    putAll();
  }
  putAll();
  expect(full).toBeGreaterThan(empty + 3_000 * 300);
  expect(view.bytes).toBeLessThan(1.1 * full);
  const question = { vector: vectorOf(), words: "again", filter: {}, limit: 9, least: 1 };
  expect(view.candidates(question).candidates.length).toBeGreaterThan(8);
});

test("words are worth what they are in the collection that a view is a part of", () => {
  const { view, put } = createPair();
  for (const content of ["apple pear", "apple plum"]) put({ ...memoryOf(content), content });
  const question = { vector: null, words: "apple", filter: {}, limit: 9, least: 1 };
  const bm25 = ({ candidates: [first], terms }: SearchCandidates) => first && bm25Of(first, terms);
  const corpus = { texts: 1_000, textsWith: new Map([["appl", 3]]), nearWords: new Map() };
  expect(bm25(view.candidates(question))).toBeCloseTo(Math.log(1 + 0.5 / 2.5), 5);
  expect(bm25(view.candidates({ ...question, corpus }))).toBeCloseTo(Math.log(1 + 997.5 / 3.5), 5);
});

test("rows can be read while memories come and go", () => {
  const { view, put, remove } = createPair();
  for (let id = 0; id < 50; id++) put(memoryOf(`id ${id}`));
  const read: string[] = [];
  for (const { id } of view.rows()) {
    read.push(id);
    if (id === "id 10") for (let gone = 0; gone < 20; gone++) remove(`id ${gone}`);
  }
  expect(read).toEqual(times(50, (id) => `id ${id}`).filter((_, id) => id <= 10 || id >= 20));
});

test("a long memory is found by each of its passages, and does not crowd out the others", () => {
  const { view, put } = createPair();
  const vector = vectorOf();
  put({ ...memoryOf("long"), vectors: [vectorOf(), ...times(100, () => vector)] });
  for (let id = 0; id < 10; id++) put({ ...memoryOf(`id ${id}`), vectors: [vectorOf()] });
  const question = { vector, words: null, filter: {}, limit: 5, least: 5 };
  const { candidates: found } = view.candidates(question);
  expect(found.length).toBeGreaterThanOrEqual(5);
  const long = found.find(({ memory }) => memory.id === "long");
  expect(long?.cosine).toBeGreaterThan(0.99);
});

test("the passage that is nearest is told", () => {
  const { view, put } = createPair();
  const vectors = times(7, vectorOf);
  put({ ...memoryOf("long"), vectors });
  for (const [passage, vector] of vectors.entries()) {
    const question = { vector, words: null, filter: {}, limit: 1, least: 1 };
    expect(view.candidates(question).candidates[0]?.passage).toBe(passage);
  }
});
