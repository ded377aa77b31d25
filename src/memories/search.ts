import type { Decay } from "../config.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { Filter } from "./filter.ts";
import {
  type Question,
  type Ranked,
  rank,
  type SearchMode,
  sessionsAround,
} from "./ranking/rank.ts";
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
}

/** Finds the memories of a table that answer a query, the best first. */
export async function searchTable(
  table: MemoryTable,
  embedder: Embedder,
  { query, limit, filter, minScore, mode, decay: decays = true }: SearchRequest,
  { now, decay }: { now: number; decay: Decay },
): Promise<Ranked[]> {
  const asked = mode === "keyword" ? null : await embedder.embedQuery(query);
  const vector = asked?.vector ?? null;
  const words = mode === "semantic" ? null : query;
  const found = await table.candidates({ vector, words, filter, limit: CANDIDATES, least: limit });
  const question: Question = {
    text: query,
    mode,
    model: embedder.model,
    memories: table.usage.memories,
    now,
    decay: decays ? decay : null,
  };
  const turns = await table.ofSessions(sessionsAround(found, question), filter, vector);
  return rank([...found, ...turns], turns, question)
    .filter(({ score }) => score >= minScore)
    .slice(0, limit);
}
