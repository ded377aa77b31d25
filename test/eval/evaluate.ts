import { expect } from "bun:test";
import { createId } from "../../src/db/id.ts";
import type { SearchMode } from "../../src/memories/ranking/rank.ts";
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

const DAY = 24 * 3_600_000;

/**
 * Imports a set's memories over HTTP, created when they were said, and returns the ids they got.
 * Those that were said at one moment keep their order.
 */
export async function loadSet(
  { memories }: EvaluationSet,
  client: Client,
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const inOrder = memories.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
  const lines = inOrder.map(({ id: name, said_at, ...memory }) => {
    const id = createId("mem", Date.parse(said_at));
    ids.set(id, name);
    return `${JSON.stringify({ id, ...memory, created_at: said_at })}\n`;
  });
  const answer = await client.send("POST", "/memories/import", {
    body: lines.join(""),
    headers: { "content-type": "application/x-ndjson" },
  });
  expect(answer).toMatchObject({ status: 200, body: { created: memories.length } });
  return ids;
}

/** A day past what was said last: when a set's questions are asked. */
export function dayAfter({ memories }: EvaluationSet): number {
  return Math.max(...memories.map(({ said_at }) => Date.parse(said_at))) + DAY;
}

/** Sets a test server's clock, by which ages are counted. */
export function setClock({ clock }: Pick<TestServer, "clock">, now: number): void {
  clock.advance(now - clock());
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
