import type { Decay } from "../config.ts";
import type { Embedder } from "../embedding/embedder.ts";
import type { Filter } from "./filter.ts";
import type { Explanation } from "./memory.ts";
import { fillCosines } from "./ranking/cosine.ts";
import { type Question, rank, type SearchMode, wantedFor } from "./ranking.ts";
import type { MemoryRow } from "./rows.ts";
import type { MemoryTable } from "./table.ts";

/** Candidates that each leg of a search brings to the ranking, at least as many as a page has. */
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

/** A memory that a search found. */
export interface Hit {
  row: MemoryRow;
  score: number;
  explanation: Explanation;
}

/** Finds the memories of a table that answer a query, the best first. */
export async function searchTable(
  table: MemoryTable,
  embedder: Embedder,
  { query, limit, filter, minScore, mode, decay: decays = true }: SearchRequest,
  { now, decay }: { now: number; decay: Decay },
): Promise<Hit[]> {
  // The words are looked up while the query is being embedded.
  const [rows, matching, { vector, near }] = await Promise.all([
    table.countRows(),
    mode === "semantic" ? [] : table.matching(query, filter, CANDIDATES, mode === "hybrid"),
    mode === "keyword" ? { vector: null, near: [] } : byMeaning(),
  ]);
  const found = [...near, ...matching];
  fillCosines(found, vector);
  const { model } = embedder;
  const question: Question = {
    text: query,
    vector,
    mode,
    model,
    rows,
    now,
    decay: decays ? decay : null,
  };
  const wanted = wantedFor(found, question, limit);
  const around = await table.around(wanted, filter, vector !== null);
  fillCosines(around, vector);
  const turns = around.filter(({ sessionId }) => wanted.sessions.includes(sessionId ?? ""));
  const best = rank([...found, ...around], turns, question)
    .filter(({ score }) => score >= minScore)
    .slice(0, limit);
  const missing = await table.find(best.flatMap(({ id, row }) => (row ? [] : id)));
  const byId = new Map(missing.map((row) => [row.id, row]));
  return best.flatMap(({ id, row, score, explanation }) => {
    const whole = row ?? byId.get(id);
    return whole ? [{ row: whole, score, explanation }] : [];
  });

  async function byMeaning() {
    const vector = await embedder.embedQuery(query);
    return { vector, near: await nearest(table, vector, filter, limit) };
  }
}

/** The nearest passages: enough of them for `limit` memories, of which each may have a hundred. */
async function nearest(table: MemoryTable, vector: Float32Array, filter: Filter, limit: number) {
  for (let count = CANDIDATES; ; count *= 4) {
    const found = await table.nearest(vector, filter, count);
    if (found.length < count || new Set(found.map(({ id }) => id)).size >= limit) return found;
  }
}
