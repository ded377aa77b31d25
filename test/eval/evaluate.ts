import type { SearchMode } from "../../src/memories/ranking.ts";
import type { Client } from "../support/client.ts";
import type { TestServer } from "../support/server.ts";
import { DEPTHS, type Measures, measure } from "./measures.ts";
import type { EvaluationSet } from "./set.ts";

/** What a question found in one mode. */
export interface Answered {
  category: string;
  mode: SearchMode;
  /** `null` for a question that no memory answers. */
  measures: Measures | null;
  /** Of the best memory; 0 without one. */
  bestScore: number;
  milliseconds: number;
}

const BATCH = 256;

/**
 * Saves a set's memories over HTTP, and returns the ids they got. There is no way to import a
 * memory with its date yet, so the server's clock is set to `said_at` before each request, and a day
 * past the last one at the end.
 */
export async function loadSet(
  { memories }: EvaluationSet,
  { clock }: Pick<TestServer, "clock">,
  client: Client,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const inOrder = memories.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
  for (let start = 0; start < inOrder.length; ) {
    const moment = inOrder[start]?.said_at;
    const batch = inOrder.slice(start, start + BATCH);
    const others = batch.findIndex(({ said_at }) => said_at !== moment);
    const together = others < 0 ? batch : batch.slice(0, others);
    clock.advance(Date.parse(moment ?? "") - clock());
    const saved = await client.saveAll(together.map(({ id, said_at, ...memory }) => memory));
    for (const [index, { id }] of together.entries()) ids.set(saved[index]?.id ?? "", id);
    start += together.length;
  }
  clock.advance(24 * 3_600_000);
  return ids;
}

/** Asks every question of a set in one mode. */
export async function askAll(
  { questions }: EvaluationSet,
  ids: ReadonlyMap<string, string>,
  client: Client,
  { mode, decay, onAnswer }: { mode: SearchMode; decay: boolean; onAnswer?: () => void },
): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const { question, evidence, category } of questions) {
    const started = performance.now();
    const found = await client.search(question, {
      mode,
      decay: String(decay),
      limit: Math.max(...DEPTHS),
    });
    answers.push({
      category: String(category),
      mode,
      milliseconds: performance.now() - started,
      bestScore: found[0]?.score ?? 0,
      measures:
        evidence.length > 0
          ? measure(
              found.map(({ id }) => ids.get(id) ?? ""),
              evidence,
            )
          : null,
    });
    onAnswer?.();
  }
  return answers;
}
