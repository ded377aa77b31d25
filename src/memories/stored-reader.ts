import type { TokenStates } from "../embedding/embedder.ts";
import type { Base } from "./base/base.ts";
import type { HeldBase } from "./base/held-base.ts";
import { type Filter, type PageStart, type Position, passes } from "./filter.ts";
import { MOST_MISSPELT, mayBeNear, nearestWords, nearness } from "./indexes/near-words.ts";
import { createStateIndex, named, type StateIndex } from "./indexes/states.ts";
import { tokensOf } from "./indexes/tokens.ts";
import type { Pending } from "./log/pending.ts";
import { createRecentStates } from "./recent-states.ts";
import type { Candidate, StoredMemory } from "./rows.ts";
import { isSameText } from "./same-text.ts";
import type { MemoryTable, TableReader } from "./table.ts";
import { createView } from "./view/create-view.ts";
import type { View } from "./view/view.ts";

/** Memories among which those are that have the same vector. */
const NEAREST = 100;

/**
 * Answers from the base and what the log holds since, for tables that are not in memory. LanceDB's
 * indexes find what a search has to consider; a small view of that, which is made for each question,
 * scores it just as a view of everything would.
 * @param size how many memories the table has
 */
export function createStoredReader({
  base,
  pending,
  dimension,
  size,
  changes,
}: {
  base: HeldBase;
  pending: Pending;
  dimension: number;
  size: () => number;
  /** Grows with every commit. */
  changes: () => number;
}): TableReader & Pick<MemoryTable, "load" | "interaction"> {
  const recent = createRecentStates(changes);

  /** Those that the log has, and the ids of the others. */
  const split = (ids: readonly string[]) => {
    const known = ids.flatMap((id) => pending.get(id) ?? []);
    return { known, others: ids.filter((id) => pending.get(id) === undefined) };
  };

  const withView = <Result>(memories: readonly StoredMemory[], ask: (view: View) => Result) => {
    const view = createView(dimension, 0);
    try {
      for (const memory of memories) view.put(memory);
      return ask(view);
    } finally {
      view.close();
    }
  };

  /** What memories know of words: those of the base that a filter lets pass, and `known` of the log. */
  const lookUp = async (
    asked: readonly string[],
    known: readonly StoredMemory[],
    filter: Filter | undefined,
  ) => {
    // A search by meaning alone has no use for the words of the log.
    const texts = asked.length > 0 ? known.map(({ content }) => new Set(tokensOf(content))) : [];
    const count = async (words: readonly string[]) => {
      const inBase = await base.read(
        (open) => open.countTexts(words, filter),
        new Map<string, number>(),
      );
      const inLog = (word: string) => texts.filter((each) => each.has(word)).length;
      return new Map(words.map((word) => [word, (inBase.get(word) ?? 0) + inLog(word)]));
    };
    const textsWith = await count(asked);
    const nearWords = new Map<string, Map<string, number>>();
    const unknown = asked.filter((each) => !textsWith.get(each) && mayBeNear(each));
    const wordsInLog = unknown.length > 0 ? new Set(texts.flatMap((each) => [...each])) : [];
    for (const word of unknown.slice(0, MOST_MISSPELT)) {
      const inBase = await base.read((open) => open.nearWords(word), new Map<string, number>());
      const all = new Set([...inBase.keys(), ...wordsInLog]);
      nearWords.set(word, nearestWords([...all].map((each) => [each, nearness(word, each)])));
    }
    const near = [...nearWords.values()].flatMap((each) => [...each.keys()]);
    for (const [word, texts] of await count(near)) textsWith.set(word, texts);
    // What is near may be a word of others alone.
    for (const words of filter ? nearWords.values() : []) {
      for (const word of words.keys()) if (!textsWith.get(word)) words.delete(word);
    }
    return { textsWith, nearWords };
  };

  const countOf = async (
    filter: Filter,
    known: readonly StoredMemory[],
    except: readonly string[],
  ): Promise<number> => {
    const replaced = (open: Base) => open.find(except);
    const [inBase, old] = await Promise.all([
      base.read((open) => open.count(filter), 0),
      except.length > 0 ? base.read(replaced, []) : [],
    ]);
    return inBase - old.filter((memory) => passes(filter, memory)).length + known.length;
  };

  const list = async (filter: Filter, from: PageStart | null, limit?: number) => {
    const options = { from, except: pending.ids(), ...(limit !== undefined && { limit }) };
    const known = pending.memories().filter((memory) => passes(filter, memory));
    const isIn = (memory: Position) =>
      from === null ||
      (memory.id !== from.id && newestFirst(from, memory) < 0 === !from.isBackward);
    const found = await base.read((open) => open.list(filter, options), []);
    const merged = [...found, ...known.filter(isIn)].sort(newestFirst);
    const start = from?.isBackward && limit !== undefined ? Math.max(0, merged.length - limit) : 0;
    return merged.slice(start, limit && start + limit).map(({ id }) => id);
  };

  const candidates: TableReader["candidates"] = async (question) => {
    // At once: a flush may take them over while the base is read.
    const [changed, except] = [pending.memories(), pending.ids()];
    const { projects, isBound } = question.filter;
    const reached = isBound && projects ? { projects } : undefined;
    const known = reached ? changed.filter((memory) => passes(reached, memory)) : changed;
    const asked = [...new Set(tokensOf(question.words ?? ""))];
    const search = (words: readonly string[]) =>
      recent.read(() => base.read((open) => open.search({ ...question, words, except }), []));
    const [found, words, texts] = await Promise.all([
      search(asked),
      lookUp(asked, known, reached),
      reached ? countOf(reached, known, except) : size(),
    ]);
    const near = [...words.nearWords.values()].flatMap((each) => [...each.keys()]);
    const all = near.length > 0 ? await search([...asked, ...near]) : found;
    const corpus = { texts, ...words };
    const ranked = withView([...all, ...known], (view) => view.candidates({ ...question, corpus }));
    return reached ? { ...ranked, memories: texts } : ranked;
  };

  return {
    async find(ids) {
      const { known, others } = split(ids);
      const rows = others.length > 0 ? await base.read((open) => open.find(others), []) : [];
      return [...known, ...rows];
    },

    async load(ids) {
      const { known, others } = split(ids);
      const rows = others.length > 0 ? await base.read((open) => open.load(others), []) : [];
      return [...known, ...rows];
    },

    list,

    count(filter) {
      const known = pending.memories().filter((memory) => passes(filter, memory));
      return countOf(filter, known, pending.ids());
    },

    select: (filter) => list(filter, null),

    async expiring(limit) {
      const known = pending
        .memories()
        .flatMap(({ id, expiresAt }) => (expiresAt === null ? [] : { id, expiresAt }));
      const except = pending.ids();
      const found = await base.read((open) => open.expiring(limit, except), []);
      return [...known, ...found].sort((a, b) => a.expiresAt - b.expiresAt).slice(0, limit);
    },

    async *rows() {
      const changed = pending.all();
      yield pending.memories();
      for await (const rows of base.stream((open) => open.scan())) {
        yield rows.filter(({ id }) => !changed.has(id));
      }
    },

    candidates,

    /** The same text has the same vector: what has it is among the nearest. */
    async withText(content, vector) {
      const question = { vector, words: null, filter: {}, limit: NEAREST, least: NEAREST };
      const found = vector ? (await candidates(question)).candidates : [];
      return found.flatMap(({ memory }) => (isSameText(memory.content, content) ? memory : []));
    },

    async interaction(ids, asked, weights) {
      const { known, others } = split(ids);
      const states = recent.of(others);
      const unread = others.filter((id) => !states.has(id));
      const read = (open: Base) => open.states(unread);
      const none = new Map<string, Int8Array>();
      for (const [id, own] of unread.length > 0 ? await base.read(read, none) : none) {
        states.set(id, own);
      }
      for (const memory of known) states.set(memory.id, memory.states);
      const index = createStateIndex();
      try {
        return interactionOf(index, states, asked, weights);
      } finally {
        index.close();
      }
    },

    async ofSessions(sessions, asked): Promise<Candidate[]> {
      const [known, except] = [pending.memories(), pending.ids()];
      const found = await recent.read(() =>
        base.read((open) => open.ofSessions(sessions, asked.filter, except), []),
      );
      const all = [...found, ...known];
      return withView(all, (view) => view.ofSessions(sessions, asked, all.length));
    },
  };
}

/** @param states by the ids of memories */
function interactionOf(
  index: StateIndex,
  states: ReadonlyMap<string, Int8Array>,
  asked: TokenStates,
  weights: readonly number[],
): Map<string, number> {
  const ids = [...states.keys()];
  for (const [owner, id] of ids.entries()) index.put(owner, states.get(id) ?? new Int8Array(0));
  return named(ids, index.interaction(asked.numbers, weights, [...ids.keys()]));
}

function newestFirst(a: Position, b: Position): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}
