import type { SearchMode } from "../../src/memories/ranking/question.ts";
import type { TestServer } from "../support/server.ts";
import { createAccount, type EvaluationAccount } from "./account.ts";
import { DEPTHS, type Measures, mean, measure } from "./measures.ts";
import type { EvaluationSet } from "./set.ts";
import type { Figure } from "./table.ts";

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

/** What recall must come to at 1, 5 and 10. */
export interface Budget {
  least: readonly number[];
  aim: readonly number[];
}

/** Asks every question of a set. */
export async function askAll(
  { questions }: Pick<EvaluationSet, "questions">,
  account: EvaluationAccount,
  { mode, decay = false }: { mode: SearchMode; decay?: boolean },
): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const { question, evidence, category } of questions) {
    const started = performance.now();
    const found = await account.ask(question, { mode, decay, limit: Math.max(...DEPTHS) });
    const ids = found.map(({ id }) => id);
    answers.push({
      category: String(category),
      mode,
      milliseconds: performance.now() - started,
      bestScore: found[0]?.score ?? 0,
      measures: evidence.length > 0 ? measure(ids, evidence) : null,
    });
  }
  return answers;
}

/** Recall of sets that have an account each. */
export async function recallOf(
  server: TestServer,
  sets: readonly EvaluationSet[],
  modes: readonly SearchMode[],
): Promise<Answered[]> {
  const answers: Answered[] = [];
  for (const set of sets) {
    const account = await createAccount(server, set.memories);
    for (const mode of modes) answers.push(...(await askAll(set, account, { mode })));
  }
  return answers;
}

/** The recall of a mode at 1, 5 and 10. */
export function recallFigures(
  answers: readonly Answered[],
  { group, mode = "hybrid", budget }: { group: string; mode?: SearchMode; budget?: Budget },
): Figure[] {
  const own = answers.filter((answer) => answer.mode === mode);
  const { questions, recall } = mean(own.flatMap(({ measures }) => measures ?? []));
  return DEPTHS.slice(0, 3).map((depth, at) => ({
    group: `${group} (${questions})`,
    name: `${mode} @${depth}`,
    value: recall[at] ?? 0,
    least: budget?.least[at],
    aim: budget?.aim[at],
  }));
}
