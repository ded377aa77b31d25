import { createId } from "../../../src/db/id.ts";
import type { Embedder } from "../../../src/embedding/embedder.ts";
import { storedFields } from "../../../src/memories/model/change-memory.ts";
import { type StoredMemory, UNSET } from "../../../src/memories/model/rows.ts";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import type { Weights } from "../../../src/memories/ranking/rank.ts";
import { SIGNALS } from "../../../src/memories/ranking/signals/signals.ts";
import { rankTable, type versionData } from "../../../src/memories/rules/search.ts";
import { MAX_SESSION_MEMORIES } from "../../../src/memories/table/create-table.ts";
import { createView } from "../../../src/memories/view/view.ts";
import type { EvaluationSet } from "../set.ts";

/** What a ranking has to learn from one question. */
export interface Example {
  /** One row of signals a memory. */
  signals: Float64Array;
  /** For each memory 1 where it answers the question, or else 0. */
  answers: Uint8Array;
  /** How many memories of the set answer it, those that were not found too. */
  wanted: number;
}

/** Memories of a question that are learned from, besides those that answer it. */
const BEST = 100;
const DAY = 86_400_000;

export type Asker = Awaited<ReturnType<typeof createAsker>>;

/** Asks questions of a set in an account of its own, which is only a view. */
export async function createAsker({ memories, questions }: EvaluationSet, embedder: Embedder) {
  const view = createView(embedder.model.dimension);
  const ids = new Map<string, string>();
  const inOrder = memories.toSorted((a, b) => Date.parse(a.said_at) - Date.parse(b.said_at));
  // At once: ids of one moment have an order only while nobody else makes some.
  for (const { id: name, said_at } of inOrder) ids.set(createId("mem", Date.parse(said_at)), name);
  const names = [...ids.keys()];
  for (const [at, memory] of inOrder.entries()) {
    view.put(await storedMemory(names[at] ?? "", memory, embedder));
  }
  const now = Date.parse(inOrder.at(-1)?.said_at ?? "") + DAY;

  const table: Parameters<typeof rankTable>[0] & Parameters<typeof versionData>[0] = {
    candidates: async ({ vector, ...question }) =>
      view.candidates({ ...question, vector: await vector }),
    ofSessions: async (sessions, asked) => view.ofSessions(sessions, asked, MAX_SESSION_MEMORIES),
    interaction: async (...question) => view.interaction(...question) ?? new Map(),
    vectorsOf: async (ids) => view.vectorsOf(ids),
  };

  const ask = async (text: string, weights: Weights) => {
    const question = readQuestion(text, now);
    const asked = { question, mode: "hybrid", filter: {}, least: 20, decay: null } as const;
    const memories = view.size;
    return { ...(await rankTable(table, embedder, { ...asked, memories, weights })), ids };
  };

  const example = async (text: string, evidence: readonly string[], weights: Weights) => {
    const wanted = new Set(evidence);
    const isWanted = (id: string) => wanted.has(ids.get(id) ?? "");
    const { ranked } = await ask(text, weights);
    const kept = ranked.slice(0, BEST);
    const signals = new Float64Array(kept.length * SIGNALS.length);
    for (const [at, one] of kept.entries()) signals.set(one.signals, at * SIGNALS.length);
    const answers = Uint8Array.from(kept, ({ memory }) => (isWanted(memory.id) ? 1 : 0));
    return { signals, answers, wanted: wanted.size };
  };

  return {
    ask,
    table,
    /** What there is to learn, in the order that some weights give. */
    async examples(weights: Weights): Promise<Example[]> {
      const examples: Example[] = [];
      for (const { question, evidence } of questions) {
        if (evidence.length > 0) examples.push(await example(question, evidence, weights));
      }
      return examples;
    },
    /** What there is to learn of questions that it can't answer. */
    async foreignExamples(texts: readonly string[], weights: Weights): Promise<Example[]> {
      const examples: Example[] = [];
      for (const text of texts) examples.push(await example(text, [], weights));
      return examples;
    },
    questions: questions.map(({ question }) => question),
    close: view.close,
  };
}

async function storedMemory(
  id: string,
  { said_at, ...memory }: EvaluationSet["memories"][number],
  embedder: Embedder,
): Promise<StoredMemory> {
  const createdAt = Date.parse(said_at);
  return {
    ...UNSET,
    ...storedFields(memory),
    ...{ id, content: memory.content, createdAt, updatedAt: createdAt },
    ...(await embedder.embedContent(memory.content)),
  };
}
