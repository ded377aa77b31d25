import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { readAnswers } from "../../src/memories/ranking/answers.ts";
import { calibrate } from "../../src/memories/ranking/chance.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import {
  ANCHORS,
  COMPARED_RESULTS,
  createComparison,
  placesToRead,
} from "../../src/memories/ranking/versions/order.ts";
import { pairSigns } from "../../src/memories/ranking/versions/pair.ts";
import { sumOfVersions } from "../../src/memories/ranking/versions/signs.ts";
import { versionData } from "../../src/memories/rules/search.ts";
import { type Example, fitNewton } from "./logistic.ts";
import { withEvaluationServer } from "./server.ts";
import { createAsker } from "./training/examples.ts";
import { areVersions, familyStores, type VersionStore } from "./version-stores.ts";

/**
 * `bun test/eval/fit-pairs.ts` fits `src/memories/ranking/versions/pair.json`: which results of a question are versions of
 * one fact, by what the model of relations tells of them. The examples are pairs of the first results and others in stores of the held
 * families, which that model has not learned from: of those that it has learned from it is too sure.
 */

const PATH = join(import.meta.dir, "../../src/memories/ranking/versions/pair.json");
/** The share of the pairs of two true things that may be taken for versions, and that may be marked as such. */
const MOST_FALSE = { ordered: 0.016, marked: 0.0025 };

await withEvaluationServer(async (_, embedder) => {
  const examples: Example[] = [];
  let names: string[] = [];
  for (const store of await familyStores()) {
    for (const { signs, isTrue } of await pairsOf(store, embedder)) {
      names = Object.keys(signs);
      examples.push({ features: Object.values(signs), isTrue, weight: 1 });
    }
  }
  const { base, weights } = fitNewton(examples);
  const sumOf = ({ features }: Example) =>
    features.reduce((sum, value, at) => sum + value * (weights[at] ?? 0), base);
  const others = examples.filter(({ isTrue }) => !isTrue).map(sumOf);
  others.sort((a, b) => b - a);
  const [least = 0, marked = 0] = [MOST_FALSE.ordered, MOST_FALSE.marked].map(
    (share) => others[Math.floor(share * others.length)],
  );
  const learned = {
    start: rounded(base - least),
    marked: rounded(marked - least),
    weights: Object.fromEntries(names.map((name, at) => [name, rounded(weights[at] ?? 0)])),
  };
  await Bun.write(PATH, `${JSON.stringify(learned, null, 2)}\n`);
  const versions = examples.filter(({ isTrue }) => isTrue).map(sumOf);
  const from = (sum: number) => versions.filter((one) => one >= sum).length;
  process.stdout.write(
    `${examples.length} pairs; of ${versions.length} versions ${from(least)} are ordered from ${least.toFixed(2)} on, ${from(marked)} marked from ${marked.toFixed(2)} on\n`,
  );
});

async function pairsOf({ set }: VersionStore, embedder: Embedder) {
  const asker = await createAsker(set, embedder);
  const pairs = [];
  for (const { question: text, evidence } of set.questions) {
    const { ids, ...results } = await asker.ask(text, WEIGHTS);
    const { question } = results;
    const ranked = await readAnswers(question, calibrate(results), embedder.relate);
    const data = await versionData(asker.table, { ...results, ranked });
    const found = ranked.slice(0, COMPARED_RESULTS);
    const compare = createComparison(question, found, data);
    for (const [place, best] of found.slice(0, ANCHORS).entries()) {
      const byTrees = found.map((_, at) => {
        const versions = at === place ? null : compare(place, at);
        return versions ? sumOfVersions(versions) : Number.NEGATIVE_INFINITY;
      });
      for (const at of placesToRead(byTrees)) {
        const other = found[at] ?? best;
        const inOrder = [best, other].sort((a, b) => a.memory.createdAt - b.memory.createdAt);
        const [older = "", newer = ""] = inOrder.map(({ memory }) => memory.content);
        const known = { trees: byTrees[at] ?? 0 };
        const signs = await pairSigns(text, [older, newer], known, embedder.relate);
        const [one = "", two = ""] = inOrder.map(({ memory }) => ids.get(memory.id));
        const isTrue = areVersions(one, two);
        // Nobody is harmed by what happens to versions of another fact than the question's.
        const isAsked = areVersions(one, evidence[0] ?? "");
        if (signs && (!isTrue || isAsked)) pairs.push({ signs, isTrue });
      }
    }
  }
  asker.close();
  return pairs;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
