import { createPause } from "../../timing/pause.ts";
import { askedWords } from "../indexes/tokens.ts";
import type { Term } from "../indexes/words.ts";
import type { Candidate, SearchCandidates } from "../model/rows.ts";
import type { MemoryTable } from "../table/table.ts";

/** Candidates by meaning and by words, each: about so many of all tables, and at least so many of each. */
const MOST = 400;
const FEWEST = 20;

/** What a search needs of a table. */
export type SearchedTable = Pick<
  MemoryTable,
  "candidates" | "ofSessions" | "interaction" | "vectorsOf" | "usage"
>;

/** Several tables that one question searches, and which of them has a memory. */
interface UnitedTables extends SearchedTable {
  ownerOf(id: string): number;
}

/**
 * The tables of several accounts as one, for one search: the rareness of a word is that in all of them together, and the
 * candidates are about those that one table of all memories would give. So they are ranked as if they were in one. A table
 * with another model than the first one is searched by words only.
 */
export function uniteTables(tables: readonly MemoryTable[]): UnitedTables {
  const owners = new Map<string, number>();
  /** The terms of each table, whose forms are words that this table has. */
  let own: readonly (readonly Term[])[] = [];

  const noteOwner = (found: readonly Candidate[], table: number) => {
    for (const { memory } of found) if (!owners.has(memory.id)) owners.set(memory.id, table);
  };
  /** Asks each table about its memories, and joins the answers. */
  const ofOwners = async <Value>(
    ids: readonly string[],
    ask: (table: MemoryTable, ids: readonly string[]) => Promise<Map<string, Value>>,
  ): Promise<Map<string, Value>> => {
    const parts = Map.groupBy(ids, (id) => owners.get(id) ?? 0);
    const answers = tables.map((table, at) => {
      const part = parts.get(at);
      return part ? ask(table, part) : [];
    });
    return new Map((await Promise.all(answers)).flatMap((answer) => [...answer]));
  };
  const hasModel = ({ model }: MemoryTable) => model.id === tables[0]?.model.id;

  return {
    ownerOf: (id) => owners.get(id) ?? 0,

    get usage() {
      return {
        memories: sum(tables.map(({ usage }) => usage.memories)),
        bytes: sum(tables.map(({ usage }) => usage.bytes)),
      };
    },

    async candidates(question) {
      const limit = Math.min(question.limit, Math.max(FEWEST, Math.ceil(MOST / tables.length)));
      const found = await inTurn(tables, (table) => {
        const vector = hasModel(table) ? question.vector : null;
        return table.candidates({ ...question, vector, limit });
      });
      for (const [at, { candidates }] of found.entries()) noteOwner(candidates, at);
      own = found.map(({ terms }) => terms);
      const sizes = found.map(({ memories }, at) => memories ?? tables[at]?.usage.memories ?? 0);
      const terms = uniteTerms(question.words ?? "", found, sizes);
      const all = found.flatMap(({ candidates }) => candidates);
      return { candidates: bestOf(all, terms, question), terms, memories: sum(sizes) };
    },

    async ofSessions(sessions, asked) {
      const found = await inTurn(tables, (table, at) => {
        const vector = hasModel(table) ? asked.vector : null;
        return table.ofSessions(sessions, { ...asked, vector, terms: own[at] ?? [] });
      });
      for (const [at, candidates] of found.entries()) noteOwner(candidates, at);
      return found.flat();
    },

    interaction: (ids, states, weights) =>
      ofOwners(ids, (table, part) => table.interaction(part, states, weights)),

    vectorsOf: (ids) => ofOwners(ids, (table, part) => table.vectorsOf(part)),
  };
}

/** Asks one table after the other. A person can have a hundred: others are answered in between. */
async function inTurn<Answer>(
  tables: readonly MemoryTable[],
  ask: (table: MemoryTable, at: number) => Promise<Answer>,
): Promise<Answer[]> {
  const pause = createPause();
  const answers: Answer[] = [];
  for (const [at, table] of tables.entries()) {
    await pause();
    answers.push(await ask(table, at));
  }
  return answers;
}

/**
 * The words of a question with their rareness in all tables. How many of a table's memories have a word follows from its
 * rareness there; see `createWordIndex`.
 * @param sizes how many memories each table has
 */
function uniteTerms(
  question: string,
  found: readonly SearchCandidates[],
  sizes: readonly number[],
): Term[] {
  const weights = new Map(askedWords(question));
  const all = sum(sizes);
  return (found[0]?.terms ?? []).map((term, place) => {
    const weight = weights.get(term.token) ?? 1;
    const counts = found.map(({ terms }, at) => {
      const { rareness = 0 } = terms[place] ?? {};
      return Math.max(0, ((sizes[at] ?? 0) + 1) / Math.exp(rareness / weight) - 0.5);
    });
    return { ...term, rareness: weight * Math.log((all + 1) / (sum(counts) + 0.5)) };
  });
}

/** The candidates that are best by meaning, and those that are best by words. */
function bestOf(
  candidates: readonly Candidate[],
  terms: readonly Term[],
  { limit, least }: { limit: number; least: number },
): Candidate[] {
  const byMeaning = candidates.toSorted((a, b) => (b.cosine ?? -1) - (a.cosine ?? -1));
  const scored = candidates.map((candidate) => ({
    candidate,
    score: sum(terms.map(({ rareness }, at) => rareness * (candidate.matches[at] ?? 0))),
  }));
  const byWords = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
  return [...new Set([...byMeaning.slice(0, Math.max(limit, least)), ...byWords])];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
