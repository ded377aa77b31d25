import type { TestServer } from "../support/server.ts";
import { createAccount, type EvaluationAccount } from "./account.ts";
import { type ForeignStore, OTHER_WORD } from "./foreign-stores.ts";
import type { Figure } from "./table.ts";

/** Results of which the evidence counts as found. */
const DEPTH = 10;
const LEAST = { silent: 0.85, kept: 0.95 };
const AIM = { silent: 0.95, kept: 0.98 };

/** The scores that one kind of stores gave. */
export interface Scores {
  store: string;
  /** Of evidence that was found. */
  evidence: number[];
  /** The best of each foreign question, by its kind. */
  foreign: { kind: string; score: number }[];
}

/** Asks all questions of stores that have an account each. */
export async function scoresOf(
  server: TestServer,
  stores: readonly ForeignStore[],
): Promise<Scores[]> {
  const scores: Scores[] = [];
  for (const store of stores) {
    const account = await createAccount(server, store.memories);
    scores.push(await scoresIn(account, store));
  }
  return scores;
}

/** Asks the questions of a store whose memories an account has. */
export async function scoresIn(
  account: EvaluationAccount,
  { kind, answerable, foreign }: Omit<ForeignStore, "memories">,
): Promise<Scores> {
  const scores: Scores = { store: kind, evidence: [], foreign: [] };
  for (const { question, evidence } of answerable) {
    for (const { id, score } of await account.ask(question, { limit: DEPTH, reads: true })) {
      if (evidence.includes(id)) scores.evidence.push(score);
    }
  }
  for (const { question, kind: of } of foreign) {
    const [best] = await account.ask(question, { limit: 1, reads: true });
    scores.foreign.push({ kind: of, score: best?.score ?? 0 });
  }
  return scores;
}

/** Which share of foreign questions is silent and of found evidence is kept, store by store. */
export function floorFigures(scores: readonly Scores[], floor: number): Figure[] {
  const stores = [...new Set(scores.map(({ store }) => store))].map((store) => {
    const of = scores.filter((one) => one.store === store);
    const evidence = of.flatMap((one) => one.evidence);
    const best = of.flatMap(({ foreign }) =>
      foreign.flatMap(({ kind, score }) => (kind === OTHER_WORD ? [] : score)),
    );
    return {
      store: `${store} (${best.length}, ${evidence.length})`,
      silent: share(best, (score) => score < floor),
      kept: share(evidence, (score) => score >= floor),
    };
  });
  const figure = (name: string, value: number, of: "silent" | "kept", group: string): Figure => ({
    ...{ group, name, value },
    ...(group === "worst store" && { least: LEAST[of], aim: AIM[of] }),
  });
  const kinds = new Map<string, number[]>();
  for (const { kind, score } of scores.flatMap(({ foreign }) => foreign)) {
    kinds.set(kind, [...(kinds.get(kind) ?? []), score]);
  }
  return [
    figure("silent", Math.min(...stores.map(({ silent }) => silent)), "silent", "worst store"),
    figure("kept", Math.min(...stores.map(({ kept }) => kept)), "kept", "worst store"),
    ...stores.flatMap(({ store, silent, kept }) => [
      figure("silent", silent, "silent", store),
      figure("kept", kept, "kept", store),
    ]),
    ...[...kinds].map(([kind, best]) =>
      figure(
        `silent (${best.length})`,
        share(best, (score) => score < floor),
        "silent",
        kind,
      ),
    ),
  ];
}

function share(scores: readonly number[], counts: (score: number) => boolean): number {
  return scores.length === 0 ? 1 : scores.filter(counts).length / scores.length;
}
