import type { Decay } from "../config.ts";
import type { Embedder } from "../embedding/embedder.ts";
import { type Filter, wasCaptured } from "./filter.ts";
import type { Explanation } from "./found-memory.ts";
import type { Term } from "./indexes/words.ts";
import type { Part } from "./matched/passage.ts";
import { amongSaved } from "./ranking/captured.ts";
import { calibrate, FLOOR } from "./ranking/chance.ts";
import { type Considered, consider } from "./ranking/considered.ts";
import { explain } from "./ranking/explain.ts";
import type { SearchMode } from "./ranking/mode.ts";
import { putVersionsInOrder, type Versioned, versionsToCompare } from "./ranking/newest.ts";
import { readPeriod } from "./ranking/period.ts";
import type { Question } from "./ranking/question.ts";
import { type Ranked, rankFirst, sessionsAround } from "./ranking/rank.ts";
import { interactionWeights } from "./ranking/signals/interaction.ts";
import type { Weights } from "./ranking/weights.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** Candidates that meaning and words each bring to the ranking, at least as many as a page has. */
const CANDIDATES = 100;

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
  const asked = {
    ...{ text: query, mode, filter, least: limit, memories: table.usage.memories, now },
    decay: decays ? decay : null,
  };
  const found = await rankTable(table, embedder, asked);
  const { question } = found;
  const all = calibrate(question, found.ranked, found.considered);
  const captured = filter.isCaptured ? [] : all.filter(({ memory }) => wasCaptured(memory));
  // What was saved is ranked as if nothing had been captured: thousands of turns crowd out nothing.
  const ranked = captured.length > 0 ? await rankSaved(table, embedder, asked) : all;
  // Of a time that is asked about, what held then comes first.
  const isOfAnyTime = readPeriod(query, now) === null;
  const areCompared = versions && isOfAnyTime;
  const compared = areCompared ? versionsToCompare(query, ranked) : [];
  const vectors = compared.length > 0 ? await table.vectorsOf(compared) : new Map();
  // By words or meaning alone, what a score is worth is not known.
  const floor = known && mode === "hybrid" ? FLOOR : 0;
  const ordered: readonly Ordered[] = areCompared
    ? putVersionsInOrder(query, ranked, vectors)
    : ranked;
  // By words or meaning alone, what is taken for an answer is not known.
  const answers = mode === "hybrid" ? FLOOR : 1;
  const merged: readonly Ordered[] =
    captured.length > 0 ? amongSaved(ordered, captured, answers) : ordered;
  const hits = merged
    .filter(({ score, chance }) => score >= minScore && chance >= floor)
    .slice(0, limit)
    .map(({ newer, ...one }) => ({
      ...{ memory: one.memory, score: one.score },
      nearest: partOf(one),
      ...(newer !== undefined && { newer }),
      ...(explains && { explanation: explain(one, question) }),
    }));
  return { hits, terms: question.terms };
}

type Ordered = Ranked & Pick<Versioned, "newer">;

/** What a ranking goes by besides what the table and the model tell of it. */
interface Asked extends Pick<Question, "text" | "mode" | "memories" | "now" | "decay"> {
  filter: Filter;
  /** Different memories that the meaning brings at the least, if there are so many. */
  least: number;
  weights?: Weights;
}

/** The memories that were not captured, with scores that can be compared. */
async function rankSaved(table: MemoryTable, embedder: Embedder, asked: Asked): Promise<Ranked[]> {
  const filter = { ...asked.filter, isCaptured: false };
  const { question, ranked, considered } = await rankTable(table, embedder, { ...asked, filter });
  return calibrate(question, ranked, considered);
}

/** Ranks memories of a table for a question. Scores of two questions can be compared after `calibrate`. */
export async function rankTable(
  table: Pick<MemoryTable, "candidates" | "ofSessions" | "interaction">,
  embedder: Pick<Embedder, "model" | "embedQuery">,
  { filter, least, weights, ...asked }: Asked,
): Promise<{ question: Question; considered: Considered[]; ranked: Ranked[] }> {
  const { text, mode } = asked;
  const embedded = mode === "keyword" ? null : await embedder.embedQuery(text);
  const vector = embedded?.vector ?? null;
  const words = mode === "semantic" ? null : text;
  const limits = { limit: CANDIDATES, least };
  const found = await table.candidates({ vector, words, filter, ...limits });
  const { candidates, terms, memories = asked.memories } = found;
  const { model } = embedder;
  const understood = embedded?.understood ?? 1;
  const question: Question = { ...asked, memories, model, terms, understood };
  const first = consider(candidates, question);
  const sessions = sessionsAround(first);
  const turns = await table.ofSessions(sessions, { filter, vector, terms });
  const considered = consider(turns, question, first);
  const { best, finish } = rankFirst(considered, sessions, question, weights);
  const interactions = embedded
    ? await table.interaction(
        best,
        embedded.states,
        interactionWeights(embedded.states.words, terms),
      )
    : new Map<string, number>();
  return { question, considered, ranked: finish(interactions) };
}

function partOf({ memory: { content, starts }, passage }: Ranked): Part | undefined {
  const start = starts[passage];
  if (start === undefined || starts.length < 2) return undefined;
  return { start, end: starts[passage + 1] ?? content.length };
}
