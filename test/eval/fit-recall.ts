import { join } from "node:path";
import { isEmptyTalk, recallSigns } from "../../src/capture/recall-text.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { chanceOf } from "../../src/memories/ranking/relevance.ts";
import { type Example, type Fitted, fitNewton } from "./logistic.ts";
import { fillAccount, readSituations } from "./recall-situations.ts";
import { withEvaluationServer } from "./server.ts";

/**
 * `bun test/eval/fit-recall.ts` fits `src/capture/recall-chance.json`: which of the memories that a prompt finds are worth
 * showing to an agent unasked. The least chance is the one with the best balance (F1) of what comes rightly and what
 * should come, by weights that were fitted without the prompt.
 */

const PARTS = 5;
const PENALTY = 0.01;
/** What a memory counts that should come, and one that may or must not. */
const WEIGHTS = { should: 2, other: 1 };
const FOUND = 20;
const PATH = join(import.meta.dir, "../../src/capture/recall-chance.json");

interface Sample extends Example {
  part: number;
  isWanted: boolean;
  isEmpty: boolean;
}

await withEvaluationServer(async (server) => {
  const { memories, situations } = await readSituations("dev");
  const { accountId } = await server.account();
  const names = await fillAccount(server, accountId, memories);
  const samples: Sample[] = [];
  let signNames: readonly string[] = [];
  let wanted = 0;
  for (const [at, { prompt, project, should, may }] of situations.entries()) {
    if (prompt === undefined) continue;
    wanted += should.length;
    const { memories: found } = await server.memories.search(wholeAccount(accountId), {
      ...{ query: prompt, limit: FOUND, minScore: 0, mode: "hybrid", explain: true },
      filter: { projects: [project, null], isCurrent: true },
    });
    for (const [place, memory] of found.entries()) {
      const signs = recallSigns(prompt, project, found, place);
      if (!signs) continue;
      signNames = Object.keys(signs);
      const name = names.get(memory.id) ?? "";
      const isWanted = should.includes(name);
      samples.push({
        features: Object.values(signs),
        isTrue: isWanted || may.includes(name),
        isWanted,
        isEmpty: isEmptyTalk(memory),
        weight: isWanted ? WEIGHTS.should : WEIGHTS.other,
        part: at % PARTS,
      });
    }
  }
  const scores = new Map<Sample, number>();
  for (let part = 0; part < PARTS; part++) {
    const fitted = fitNewton(
      samples.filter((sample) => sample.part !== part),
      PENALTY,
    );
    for (const sample of samples) {
      if (sample.part === part) scores.set(sample, scoreOf(sample, fitted));
    }
  }
  const measureAt = (least: number) => {
    const shown = samples.filter((sample) => !sample.isEmpty && (scores.get(sample) ?? 0) >= least);
    const precision = shown.filter(({ isTrue }) => isTrue).length / Math.max(1, shown.length);
    const recall = shown.filter(({ isWanted }) => isWanted).length / wanted;
    return { least, precision, recall, balance: (2 * precision * recall) / (precision + recall) };
  };
  const all = Array.from({ length: 18 }, (_, at) => measureAt(0.05 * (at + 1)));
  const best = all.reduce((a, b) => (b.balance > a.balance ? b : a));
  const { base, weights } = fitNewton(samples, PENALTY);
  const learned = {
    least: rounded(best.least),
    start: rounded(base),
    weights: Object.fromEntries(signNames.map((sign, at) => [sign, rounded(weights[at] ?? 0)])),
  };
  await Bun.write(PATH, `${JSON.stringify(learned, null, 2)}\n`);
  for (const { least, precision, recall } of all) {
    process.stdout.write(
      `${least.toFixed(2)}: precision ${precision.toFixed(3)}, recall ${recall.toFixed(3)}\n`,
    );
  }
});

function scoreOf({ features }: Sample, { base, weights }: Fitted): number {
  return chanceOf(features.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), base));
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
