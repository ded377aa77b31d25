import type { Decay } from "../../config/config.ts";
import type { Embedder, TokenStates } from "../../embedding/embedder.ts";
import { AHEAD_OF_SEARCH, relateUpTo } from "../../embedding/relations/relate-up-to.ts";
import type { Term } from "../indexes/words.ts";
import type { Part } from "../matched/passage.ts";
import { termsOf } from "../matched/term-finder.ts";
import { type Filter, wasCaptured } from "../model/filter.ts";
import type { Explanation } from "../model/found-memory.ts";
import type { MemoryRow } from "../model/rows.ts";
import { doubtAnswers, readAnswers } from "../ranking/answers.ts";
import {
  answersAmong,
  calibrate,
  JUDGED_RESULTS,
  MATCHED_RESULTS,
  type RankedResults,
} from "../ranking/chance.ts";
import { consider, placeAmongSaved } from "../ranking/considered.ts";
import { factOf, MAX_FACT_LENGTH, statementIn } from "../ranking/fact-text.ts";
import { collapse } from "../ranking/hint.ts";
import {
  type AskedText,
  type Question,
  readQuestion,
  type SearchMode,
  wordsToCompare,
} from "../ranking/question.ts";
import { explain, type Ranked, rankFirst, sessionsAround, type Weights } from "../ranking/rank.ts";
import { interactionWeights } from "../ranking/signals/interaction.ts";
import {
  COMPARED_RESULTS,
  comparable,
  orderVersions,
  type VersionData,
  type Versioned,
  type VersionMarks,
  versionsToCompare,
} from "../ranking/versions/order.ts";
import type { MemoryTable } from "../table/table.ts";
import type { SearchedTable } from "./united-tables.ts";

/** Candidates by meaning and by words, each; more if a page is larger. */
const CANDIDATES = 100;
/** Pairs of texts that the model of relations reads for a search at most. Each takes 2.5 ms. */
export const RELATED = 32;
/** When only superseding tells which memories are versions. */
const NO_DATA: VersionData = { vectors: new Map(), matches: new Map() };

export interface SearchRequest {
  query: string;
  limit: number;
  filter: Filter;
  /** Memories with a lower score are left out. The default is 0. */
  minScore?: number;
  /** The default is `hybrid`. */
  mode?: SearchMode;
  /** Whether scores fall with age. The default is true. */
  decay?: boolean;
  /** Whether each score is explained. */
  explain?: boolean;
  /** Whether only likely answers are returned; see `FLOOR`. */
  known?: boolean;
  /** Whether results that say the same are one. By default they are if `known`. */
  merges?: boolean;
  /** Whether unlikely first results are read too, and become less likely if none answers. By default they are if `known`. */
  reads?: boolean;
  /** Whether somebody is still typing the query: then it does not count as asked. */
  isTyped?: boolean;
  /** Whether the version of a fact that the query asks for comes before the others. The default is true. */
  versions?: boolean;
}

/** A memory that was found. */
interface Hit extends VersionMarks {
  /** Ids of other results that say the same. */
  alike?: string[];
  memory: MemoryRow;
  score: number;
  /** If it was asked for. */
  explanation?: Explanation;
  /** The passage that is nearest to the query in meaning; undefined when it is not known. */
  nearest: Part | undefined;
}

/** The memories that answer a query, best first, with the words to find in them and the period that the query names. */
export interface SearchResult {
  hits: Hit[];
  terms: readonly Term[];
  period: AskedText["period"];
}

/** Finds the memories of a table that answer a query. */
export async function searchTable(
  table: SearchedTable,
  embedder: Embedder,
  {
    query,
    limit,
    filter: wantedFilter,
    minScore = 0,
    mode = "hybrid",
    decay: decays = true,
    explain: explains,
    versions = true,
    known = false,
    merges = known,
    reads = known,
    isTyped = false,
  }: SearchRequest,
  { now, decay }: { now: number; decay: Decay },
): Promise<SearchResult> {
  const read = readQuestion(query, now);
  // A question about the past asks for what has been superseded since.
  const isAboutPast = versions && read.asksForSuperseded && wantedFilter.knownAt === undefined;
  const filter = isAboutPast ? { ...wantedFilter, isCurrent: false } : wantedFilter;
  const asked = {
    question: read,
    mode,
    filter,
    least: limit,
    first: Math.max(limit, JUDGED_RESULTS, COMPARED_RESULTS),
    memories: table.usage.memories,
    decay: decays ? decay : null,
  };
  const found = await rankTable(table, embedder, asked);
  const { question } = found;
  const relate = relateUpTo(RELATED, embedder.relate, AHEAD_OF_SEARCH);
  const all = calibrate(found);
  const captured = filter.isCaptured ? [] : all.filter(({ memory }) => wasCaptured(memory));
  // Saved memories are ranked as if there were no captured ones: thousands of captured turns must not crowd
  // them out.
  const saved = { ...asked, filter: { ...filter, isCaptured: false }, first: Infinity };
  const ranked = captured.length > 0 ? calibrate(await rankTable(table, embedder, saved)) : all;
  // Nobody waits while they are still typing.
  const best = versions && !isTyped ? await readAnswers(question, ranked, relate, reads) : ranked;
  const merged =
    captured.length > 0 ? placeAmongSaved(best, captured, readTurns(question, captured)) : best;
  // A query about a time asks for the version of that time, not for the newest.
  const areCompared = versions && question.period === null;
  // Without meaning, or without words, a comparison of texts lacks half of its signs.
  const data =
    areCompared && mode === "hybrid"
      ? await versionData(table, { ...found, ranked: merged })
      : NO_DATA;
  // What was said later may have changed what was saved.
  const ordered: readonly OrderedResult[] = areCompared
    ? await orderVersions(question, merged, data, relate)
    : merged;
  const likely = reads && !isTyped ? await doubtAnswers(found, ordered, relate) : ordered;
  // The floor was fitted for hybrid scores only.
  const answering = known && mode === "hybrid" ? answersAmong(likely) : likely;
  const scored = answering.filter(({ score }) => score >= minScore);
  const wanted: readonly (OrderedResult & { alike?: string[] })[] = merges
    ? await collapse(scored, await vectorsOf(table, scored, data), embedder, filter.isCurrent)
    : scored;
  const hits = wanted.slice(0, limit).map(({ newer, replaces, alike, ...one }) => ({
    memory: one.memory,
    score: one.score,
    nearest: partOf(one),
    ...(newer !== undefined && { newer }),
    ...(replaces !== undefined && { replaces }),
    ...(alike !== undefined && { alike }),
    ...(explains && { explanation: explain(one, question) }),
  }));
  const terms = question.terms.length > 0 ? question.terms : termsOf(query);
  return { hits, terms, period: question.period };
}

/** What turns say about a question. Only the first are read, since reading takes time. @param captured the best first */
function readTurns({ facts }: Question, captured: readonly Ranked[]) {
  const stating = new Set(
    captured.slice(0, COMPARED_RESULTS).filter(({ memory }) => statementIn(memory, facts) !== null),
  );
  const namedIn = ({ memory }: Ranked) => {
    const { keys } = factOf(memory);
    return new Set(facts.map(({ key }) => key).filter((key) => keys.has(key)));
  };
  return {
    states: (turn: Ranked) => stating.has(turn),
    asks: (turn: Ranked) =>
      !stating.has(turn) &&
      turn.memory.content.length <= MAX_FACT_LENGTH &&
      factOf(turn.memory).speaker === "User",
    namesMore(turn: Ranked, saved: Ranked) {
      const [named, bySaved] = [namedIn(turn), namedIn(saved)];
      return named.size > bySaved.size && bySaved.isSubsetOf(named);
    },
  };
}

type OrderedResult = Ranked & VersionMarks;

/** The vectors of results, of which some may have been read before. */
async function vectorsOf(
  table: Pick<MemoryTable, "vectorsOf">,
  results: readonly OrderedResult[],
  data: VersionData,
): Promise<ReadonlyMap<string, Float32Array>> {
  const known = data.vectors;
  const ids = results.slice(0, COMPARED_RESULTS).map(({ memory }) => memory.id);
  const others = ids.filter((id) => !known.has(id));
  if (others.length === 0 || ids.length < 2) return known;
  return new Map([...known, ...(await table.vectorsOf(others))]);
}

/** What the comparison of versions needs of the results besides their texts. */
export async function versionData(
  table: Pick<MemoryTable, "vectorsOf" | "interaction">,
  {
    question,
    ranked,
    states,
  }: { question: Question; ranked: readonly Versioned[]; states: TokenStates | null },
): Promise<VersionData> {
  const ids = versionsToCompare(question, ranked);
  if (ids.length === 0) return NO_DATA;
  const vectors = await table.vectorsOf(ids);
  return { vectors, matches: await matchWords(table, comparable(ranked, vectors), states) };
}

/** The inputs of a ranking besides the table and the model. */
interface RankingInput extends Pick<Question, "mode" | "memories" | "decay"> {
  question: AskedText;
  filter: Filter;
  /** The fewest different memories that the comparison of meaning returns, if the table has them. */
  least: number;
  /** How many of the first memories are needed; all by default. */
  first?: number;
  weights?: Weights;
}

/**
 * Ranks memories of a table for a question. `calibrate` makes scores of different questions comparable. If captured
 * memories are among them, all are ranked, since saved ones take their places.
 */
export async function rankTable(
  table: Pick<MemoryTable, "candidates" | "ofSessions" | "interaction">,
  embedder: Pick<Embedder, "model" | "embedQuery">,
  { question: asked, filter, least, first: wanted, weights, ...input }: RankingInput,
): Promise<RankedResults & { ranked: Ranked[]; states: TokenStates | null }> {
  const { mode } = input;
  const embedding = mode === "keyword" ? null : embedder.embedQuery(asked.text);
  const words = mode === "semantic" ? null : asked.text;
  const vectors = embedding?.then(({ vector }) => vector) ?? null;
  const limits = { limit: CANDIDATES, least };
  const found = await table.candidates({ vector: vectors, words, filter, ...limits });
  const { candidates, terms, memories = input.memories } = found;
  const embedded = await embedding;
  const vector = embedded?.vector ?? null;
  const { model } = embedder;
  const understood = embedded?.understood ?? 1;
  const question: Question = { ...asked, ...input, memories, model, terms, understood };
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
  const hasCaptured = considered.some(({ memory }) => wasCaptured(memory));
  const ranked = finish(interactions, hasCaptured ? undefined : wanted);
  const states = embedded?.states ?? null;
  const firstIds = ranked.slice(0, MATCHED_RESULTS).map(({ memory }) => memory.id);
  const matches = await matchWords(table, firstIds, states);
  return { question, considered, ranked, states, matches };
}

/**
 * How well each word of a question is matched in memories, −1 to 1, by their ids. Memories whose words can't be compared
 * are left out.
 * @param asked null for a question by words alone
 */
async function matchWords(
  table: Pick<MemoryTable, "interaction">,
  ids: readonly string[],
  asked: TokenStates | null,
): Promise<Map<string, number[]>> {
  const matches = new Map<string, number[]>();
  if (!asked) return matches;
  for (const [at, word] of wordsToCompare(asked).entries()) {
    const weights = asked.words.map((own) => (own === word ? 1 : 0));
    for (const [id, match] of await table.interaction(ids, asked, weights)) {
      if (at === 0) matches.set(id, []);
      matches.get(id)?.push(match);
    }
  }
  return matches;
}

function partOf({ memory: { content, starts }, passage }: Ranked): Part | undefined {
  const start = starts[passage];
  if (start === undefined || starts.length < 2) return undefined;
  return { start, end: starts[passage + 1] ?? content.length };
}
