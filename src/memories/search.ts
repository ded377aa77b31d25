import type { Decay } from "../config.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { Filter } from "./filter.ts";
import type { Explanation } from "./found-memory.ts";
import type { Term } from "./indexes/words.ts";
import type { Part } from "./matched/passage.ts";
import { calibrate, FLOOR } from "./ranking/chance.ts";
import { explain } from "./ranking/explain.ts";
import type { SearchMode } from "./ranking/mode.ts";
import { putVersionsInOrder, type Versioned, versionsToCompare } from "./ranking/newest.ts";
import { readPeriod } from "./ranking/period.ts";
import type { Question } from "./ranking/question.ts";
import { rankFirst, sessionsAround } from "./ranking/rank.ts";
import { interactionWeights } from "./ranking/signals/interaction.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** Candidates that meaning and words each bring to the ranking, at least as many as a page has. */
export const CANDIDATES = 100;

export interface SearchRequest {
  query: string;
  limit: number;
  filter: Filter;
  /** Memories with a lower score, as it is shown, are left out. */
  minScore: number;
  mode: SearchMode;
  /** Whether old memories sink; they do unless told otherwise. */
  decay?: boolean;
  /** Whether the parts of each score are told. */
  explain?: boolean;
  /** Whether only memories are found that are taken for answers; see `FLOOR`. */
  known?: boolean;
  /** Whether of versions of one fact the one asked for comes first; it does unless told otherwise. */
  versions?: boolean;
}

/** A memory that was found. */
export interface Hit extends Pick<Versioned, "newer"> {
  memory: MemoryRow;
  score: number;
  /** Where it was asked for. */
  explanation?: Explanation;
  /** The passage whose meaning is nearest to the query's; undefined where that is not known. */
  nearest: Part | undefined;
}

/** Memories that answer a query, the best first, and the words of the query that they were found by. */
export interface SearchResult {
  hits: Hit[];
  terms: readonly Term[];
}

/** Finds the memories of a table that answer a query. */
export async function searchTable(
  table: MemoryTable,
  embedder: Embedder,
  {
    query,
    limit,
    filter,
    minScore,
    mode,
    decay: decays = true,
    explain: explains,
    versions = true,
    known = false,
  }: SearchRequest,
  { now, decay }: { now: number; decay: Decay },
): Promise<SearchResult> {
  const asked = mode === "keyword" ? null : await embedder.embedQuery(query);
  const vector = asked?.vector ?? null;
  const words = mode === "semantic" ? null : query;
  const found = await table.candidates({ vector, words, filter, limit: CANDIDATES, least: limit });
  const question: Question = {
    text: query,
    mode,
    model: embedder.model,
    terms: found.terms,
    understood: asked?.understood ?? 1,
    memories: table.usage.memories,
    now,
    decay: decays ? decay : null,
  };
  const sessions = sessionsAround(found.candidates, question);
  const turns = await table.ofSessions(sessions, { filter, vector, terms: found.terms });
  const candidates = [...found.candidates, ...turns];
  const passages = new Map(candidates.map(({ memory, passage }) => [memory.id, passage]));
  const first = rankFirst(candidates, sessions, question);
  const interactions = asked
    ? await table.interaction(
        first.best,
        asked.states,
        interactionWeights(asked.states.words, found.terms),
      )
    : new Map<string, number>();
  const ranked = calibrate(question, first.finish(interactions), candidates);
  // Of a time that is asked about, what held then comes first.
  const isOfAnyTime = readPeriod(query, now) === null;
  const compared = versions && isOfAnyTime ? versionsToCompare(query, ranked) : [];
  const vectors = compared.length > 0 ? await table.vectorsOf(compared) : new Map();
  // By words or meaning alone, what a score is worth is not known.
  const floor = known && mode === "hybrid" ? FLOOR : 0;
  const hits = putVersionsInOrder(query, ranked, vectors)
    .filter(({ score, chance }) => score >= minScore && chance >= floor)
    .slice(0, limit)
    .map(({ newer, ...one }) => ({
      ...{ memory: one.memory, score: one.score },
      nearest: partOf(one.memory, passages),
      ...(newer !== undefined && { newer }),
      ...(explains && { explanation: explain(one, question) }),
    }));
  return { hits, terms: found.terms };
}

function partOf(
  { id, content, starts }: MemoryRow,
  passages: ReadonlyMap<string, number>,
): Part | undefined {
  const nth = passages.get(id) ?? 0;
  const start = starts[nth];
  if (start === undefined || starts.length < 2) return undefined;
  return { start, end: starts[nth + 1] ?? content.length };
}
