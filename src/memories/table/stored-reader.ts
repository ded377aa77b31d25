import { createPause } from "../../timing/pause.ts";
import type { Base, HeldBase } from "../base/base.ts";
import { byName, createStateIndex } from "../indexes/token-states.ts";
import { tokensOf } from "../indexes/tokens.ts";
import type { Pending } from "../log/pending.ts";
import {
  compareIn,
  type Filter,
  type Order,
  type PageStart,
  type Position,
  passes,
} from "../model/filter.ts";
import { type Candidate, isSameText, type MemoryRow, type StoredMemory } from "../model/rows.ts";
import { createView, type View } from "../view/view.ts";
import { countWords, wordsOf } from "./stored-words.ts";
import type { MemoryTable, TableReader } from "./table.ts";

/** The most memories whose token states are kept: some megabytes. */
const MAX_MEMORIES = 2_000;

/**
 * Keeps the token states of the memories that were last read from a base. A search compares what it has
 * found word by word at once; reading the states again would take as long as the search.
 * @param changes grows with every commit, which makes the kept states invalid
 */
function createRecentStates(changes: () => number) {
  const states = new Map<string, Int8Array>();
  let validFor = changes();

  const refresh = () => {
    if (validFor === changes() && states.size <= MAX_MEMORIES) return;
    states.clear();
    validFor = changes();
  };

  return {
    /** Reads memories, and keeps their states unless there was a commit meanwhile. */
    async read(task: () => Promise<StoredMemory[]>): Promise<StoredMemory[]> {
      const began = changes();
      const memories = await task();
      refresh();
      if (began === validFor) for (const memory of memories) states.set(memory.id, memory.states);
      return memories;
    },

    /** The kept states of some memories, by id. */
    of(ids: readonly string[]): Map<string, Int8Array> {
      refresh();
      const kept = new Map<string, Int8Array>();
      for (const id of ids) {
        const own = states.get(id);
        if (own) kept.set(id, own);
      }
      return kept;
    },
  };
}

interface Parts {
  base: HeldBase;
  pending: Pending;
}

/** The nearest memories among which those with the same vector are found. */
const NEAREST = 100;

/**
 * Answers from the base and the pending changes of a table that is not in memory. LanceDB's indexes find the
 * candidates of a search. A small view of the candidates, built for each question, scores them just as a
 * view of the whole table would.
 */
export function createStoredReader({
  base,
  pending,
  dimension,
  state,
}: Parts & { dimension: number; state: Pick<MemoryTable, "usage" | "changes"> }): TableReader &
  Pick<MemoryTable, "load" | "interaction" | "vectorsOf"> {
  const recent = createRecentStates(() => state.changes);
  const find: TableReader["find"] = (ids) =>
    readByIds(ids, { base, pending }, (open, others) => open.find(others));

  const candidates: TableReader["candidates"] = async (question) => {
    // Read before the first await: a flush may move pending changes into the base meanwhile.
    const [changed, except] = [pending.memories(), pending.ids()];
    const { projects, isBound } = question.filter;
    const reach = isBound && projects ? { projects } : undefined;
    const reached = reach ? changed.filter((memory) => passes(reach, memory)) : changed;
    const { knownAt } = question.filter;
    const words = [...new Set(tokensOf(question.words ?? ""))];
    const search = (searched: readonly string[]) =>
      recent.read(() =>
        base.read((open) => open.search({ ...question, words: searched, except }), []),
      );
    const [known, found, statistics, texts] = await Promise.all([
      knownAt === undefined ? reached : matching(question.filter, reached, find),
      search(words),
      countWords(base, words, reached, reach),
      reach ? countMemories(base, reach, reached, except) : state.usage.memories,
    ]);
    const near = wordsOf(statistics.nearWords);
    const all = near.length > 0 ? await search([...words, ...near]) : found;
    const corpus = { texts, ...statistics };
    const filter = settle(question.filter);
    const ranked = await withView(dimension, [...all, ...known], (view) =>
      view.candidates({ ...question, filter, corpus }),
    );
    return reach ? { ...ranked, memories: texts } : ranked;
  };

  return {
    find,
    load: (ids) => readByIds(ids, { base, pending }, (open, others) => open.load(others)),
    list: (...page) => listStored({ base, pending }, ...page),
    async count(filter) {
      const [changed, except] = [pending.memories(), pending.ids()];
      return countMemories(base, filter, await matching(filter, changed, find), except);
    },
    select: (filter, limit) => listStored({ base, pending }, filter, null, limit),

    async expiring(limit) {
      const changed = pending
        .memories()
        .flatMap(({ id, expiresAt }) => (expiresAt === null ? [] : { id, expiresAt }));
      const except = pending.ids();
      const found = await base.read((open) => open.expiring(limit, except), []);
      return [...changed, ...found].sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
    },

    async *rows() {
      const changed = pending.all();
      yield pending.memories();
      for await (const rows of base.stream((open) => open.scan())) {
        yield rows.filter(({ id }) => !changed.has(id));
      }
    },

    candidates,

    /** The same text has the same vector, so its memories are among the nearest. */
    async withText(content, vector) {
      const filter = { isCaptured: false };
      const question = { vector, words: null, filter, limit: NEAREST, least: NEAREST };
      const found = vector ? (await candidates(question)).candidates : [];
      return found.flatMap(({ memory }) => (isSameText(memory.content, content) ? memory : []));
    },

    async vectorsOf(ids) {
      const { changed, others } = split(ids, pending);
      const none = new Map<string, Float32Array>();
      const found = await base.read((open) => open.firstVectors(others), none);
      for (const { id, vectors } of changed) if (vectors[0]) found.set(id, vectors[0]);
      return found;
    },

    async interaction(ids, asked, weights) {
      const { changed, others } = split(ids, pending);
      const states = recent.of(others);
      const unread = others.filter((id) => !states.has(id));
      if (unread.length > 0) {
        const none = new Map<string, Int8Array>();
        const read = await base.read((open) => open.states(unread), none);
        for (const [id, own] of read) states.set(id, own);
      }
      for (const memory of changed) states.set(memory.id, memory.states);
      const index = createStateIndex();
      const owners = [...states.keys()];
      try {
        for (const [owner, numbers] of [...states.values()].entries()) index.put(owner, numbers);
        const matches = index.interaction(asked.numbers, weights, [...owners.keys()]);
        return byName(owners, matches);
      } finally {
        index.close();
      }
    },

    async ofSessions(sessions, asked): Promise<Candidate[]> {
      const [changed, except] = [pending.memories(), pending.ids()];
      const found = await recent.read(() =>
        base.read((open) => open.ofSessions(sessions, asked.filter, except), []),
      );
      const { filter } = asked;
      const known = filter.knownAt === undefined ? changed : await matching(filter, changed, find);
      const all = [...found, ...known];
      const settled = { ...asked, filter: settle(filter) };
      return withView(dimension, all, (view) => view.ofSessions(sessions, settled, all.length));
    },
  };
}

/** Ids of a page; see `TableReader`. */
async function listStored(
  { base, pending }: Parts,
  filter: Filter,
  from: PageStart | null,
  limit?: number,
  order: Order = "newest",
): Promise<string[]> {
  const compare = compareIn(order);
  const options = { from, except: pending.ids(), order, ...(limit !== undefined && { limit }) };
  const changed = await matching(filter, pending.memories(), (ids) =>
    readByIds(ids, { base, pending }, (open, others) => open.find(others)),
  );
  const isOnPage = (memory: Position) =>
    from === null || (memory.id !== from.id && compare(from, memory) < 0 === !from.isBackward);
  const found = await base.read((open) => open.list(filter, options), []);
  const merged = [...found, ...changed.filter(isOnPage)].sort(compare);
  const start = from?.isBackward && limit !== undefined ? Math.max(0, merged.length - limit) : 0;
  return merged.slice(start, limit && start + limit).map(({ id }) => id);
}

/**
 * Asks a small view of some memories. Reading the words of a hundred long texts takes half a second, so other work
 * gets its turn in between.
 */
async function withView<Result>(
  dimension: number,
  memories: readonly StoredMemory[],
  ask: (view: View) => Result,
): Promise<Result> {
  const view = createView(dimension, 0);
  const pause = createPause();
  try {
    for (const memory of memories) {
      view.put(memory);
      await pause();
    }
    return ask(view);
  } finally {
    view.close();
  }
}

/** The memories that match a filter, with those that superseded them. */
async function matching<Memory extends MemoryRow>(
  filter: Filter,
  memories: readonly Memory[],
  find: TableReader["find"],
): Promise<Memory[]> {
  const newer = new Map<string, MemoryRow>();
  if (filter.knownAt !== undefined && filter.isCurrent) {
    const ids = new Set(memories.flatMap(({ supersededBy }) => supersededBy ?? []));
    for (const row of await find([...ids])) newer.set(row.id, row);
  }
  return memories.filter((memory) => passes(filter, memory, (id) => newer.get(id)));
}

/** A filter for memories that were known at its moment: a small view lacks those that superseded them later. */
function settle(filter: Filter): Filter {
  return filter.knownAt === undefined ? filter : { ...filter, isCurrent: false };
}

/** The changed memories among some ids, and the ids that have not changed since the last flush. */
function split(ids: readonly string[], pending: Pending) {
  const changed = ids.flatMap((id) => pending.get(id) ?? []);
  return { changed, others: ids.filter((id) => pending.get(id) === undefined) };
}

/** Memories by id: changed ones from the log, and others from the base. */
async function readByIds<Row>(
  ids: readonly string[],
  { base, pending }: Parts,
  read: (open: Base, ids: readonly string[]) => Promise<Row[]>,
): Promise<(Row | StoredMemory)[]> {
  const { changed, others } = split(ids, pending);
  const rows = others.length > 0 ? await base.read((open) => read(open, others), []) : [];
  return [...changed, ...rows];
}

/**
 * Counts the memories that match a filter.
 * @param changed the pending memories that match it
 * @param except ids of all pending changes, whose former state in the base does not count
 */
async function countMemories(
  base: HeldBase,
  filter: Filter,
  changed: readonly StoredMemory[],
  except: readonly string[],
): Promise<number> {
  const [inBase, former] = await Promise.all([
    base.read((open) => open.count(filter), 0),
    except.length > 0 ? base.read((open) => open.find(except), []) : [],
  ]);
  const counted = await matching(filter, former, (ids) => base.read((open) => open.find(ids), []));
  return inBase - counted.length + changed.length;
}
