import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { calibrate } from "../../src/memories/ranking/chance.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import { readRelation } from "../../src/memories/ranking/relation.ts";
import { readTrees } from "../../src/memories/ranking/trees.ts";
import {
  ANCHORS,
  COMPARED_RESULTS,
  createComparison,
  type Versioned,
} from "../../src/memories/ranking/version-order.ts";
import { versionData } from "../../src/memories/rules/search.ts";
import { fitTrees } from "./boosting.ts";
import { readGroups } from "./groups.ts";
import type { Example } from "./logistic.ts";
import { readBoth, readFacts, readNotes } from "./own-sets.ts";
import { withEvaluationServer } from "./server.ts";
import type { EvaluationSet } from "./set.ts";
import { createAsker } from "./training/examples.ts";
import {
  fitRelationParts,
  PARTS,
  partOf,
  readRelationExamples,
} from "./training/relation-examples.ts";
import { areVersions, bothStores, changedStores, type VersionStore } from "./version-stores.ts";

/**
 * `bun test/eval/fit-versions.ts FOLDER` fits `src/memories/ranking/versions.json`: which of the memories that a
 * question finds are versions of one fact. Examples are pairs of results of `dev` stores and of all other sets. The
 * least sum of a version is chosen by trees that were fitted without the fact or the shape of sentence. The relation of
 * two texts is a sign among others, so it is read from trees that did not see the pair either: else it would seem
 * to be more certain than it is.
 */

const PATH = join(import.meta.dir, "../../src/memories/ranking/versions.json");
const TREES = { trees: 150, leaves: 10, rate: 0.1, leafSize: 15, penalty: 2 };
/** The share of pairs of two true things that may be taken for versions, and that may be marked as such. */
const MOST_FALSE = { ordered: 0.005, marked: 0.002 };
/** Every fifth question is also compared without token states, as large stores have none. */
const WITHOUT_TOKENS = 5;
/** Every sixth pair is taken of those that nobody asks for: there are many. */
const OTHERS_TAKEN = 6;
/** How much a pair counts that is no version, by what it would break, and one that is. */
const WEIGHTS_OF = { version: 1, both: 3, beside: 2, evidence: 0.5, other: 0.3 };

interface Sample extends Example {
  /** The fact, the shape of sentence, or the set. Samples of one group are fitted together or not at all. */
  group: string;
  isBoth: boolean;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has the sets?");
await withEvaluationServer(async (_, embedder) => {
  const samples = await readSamples(folder, embedder);
  const scores = new Map<Sample, number>();
  for (let part = 0; part < PARTS; part++) {
    const sumOf = readTrees(
      fitTrees(
        samples.filter((sample) => partOf(sample.group) !== part),
        TREES,
      ),
    );
    for (const sample of samples) {
      if (partOf(sample.group) === part)
        scores.set(sample, sumOf(Float64Array.from(sample.features)));
    }
  }
  const ofBoth = samples.filter(({ isBoth }) => isBoth).map((one) => scores.get(one) ?? 0);
  ofBoth.sort((a, b) => b - a);
  const [least = 0, marked = 0] = [MOST_FALSE.ordered, MOST_FALSE.marked].map(
    (share) => ofBoth[Math.floor(share * ofBoth.length)],
  );
  const { start, trees } = fitTrees(samples, TREES);
  await Bun.write(
    PATH,
    `${JSON.stringify({ least: rounded(least), marked: rounded(marked), start, trees })}\n`,
  );
  const versions = samples.filter(({ isTrue }) => isTrue);
  const [found, sure] = [least, marked].map(
    (from) => versions.filter((one) => (scores.get(one) ?? 0) > from).length,
  );
  process.stdout.write(
    `${samples.length} pairs; ${found} of ${versions.length} versions from ${least.toFixed(2)} on, ${sure} from ${marked.toFixed(2)} on\n`,
  );
});

async function readSamples(folder: string, embedder: Embedder): Promise<Sample[]> {
  const samples: Sample[] = [];
  const shapes = (await readBoth("dev")).map(({ shape }) => shape);
  const relations = fitRelationParts(await readRelationExamples(embedder)).map(readRelation);
  let [questions, others] = [0, 0];
  const add = async ({ kind, set }: VersionStore) => {
    const describe = createDescription(kind, set, shapes);
    const asker = await createAsker(set, embedder);
    for (const { question: text, evidence } of set.questions) {
      const { ids, asked, ...results } = await asker.ask(text, WEIGHTS);
      const ranked = calibrate(results);
      const found = ranked.slice(0, COMPARED_RESULTS);
      const nameOf = (at: number) => ids.get(found[at]?.memory.id ?? "") ?? "";
      const wanted = pairsOf(found)
        .map((places) => ({ places, ...describe(nameOf(places[0]), nameOf(places[1]), evidence) }))
        .filter(
          ({ weight }) =>
            weight > 0 && (weight !== WEIGHTS_OF.other || others++ % OTHERS_TAKEN === 0),
        );
      const data = await versionData(asker.table, text, { ranked, asked });
      const withoutTokens = { ...data, states: new Map(), matches: new Map() };
      for (const known of questions++ % WITHOUT_TOKENS === 0 ? [data, withoutTokens] : [data]) {
        const compare = relations.map((relate) =>
          createComparison({ text, cosines: embedder.model.cosines, relate }, found, known),
        );
        for (const { places, ...pair } of wanted) {
          const signs = compare[partOf(pair.group)]?.(...places);
          if (signs) samples.push({ ...pair, features: Object.values(signs) });
        }
      }
    }
    asker.close();
  };
  for (const store of [...(await bothStores("dev")), ...(await changedStores("dev"))]) {
    await add(store);
  }
  for (const set of [await readFacts(), await readNotes()]) {
    const asked = set.questions.filter(({ category }) => category !== "changed");
    await add({ kind: "own", set: { ...set, questions: asked } });
  }
  for (const { name, files } of await readGroups(folder)) {
    for (const { set } of files) await add({ kind: name, set });
  }
  return samples;
}

/** What is known of two memories of a store, by their names in the set. */
function createDescription(kind: string, { memories }: EvaluationSet, shapes: readonly string[]) {
  const contents = new Map(memories.map(({ id, content }) => [id, content]));
  return (a: string, b: string, evidence: readonly string[]) => {
    const isTrue = areVersions(a, b);
    const isEvidence = evidence.includes(a) || evidence.includes(b);
    const fact = a.split(".", 1)[0] ?? "";
    const isBeside = fact === b.split(".", 1)[0];
    const isBoth = isBeside && kind.startsWith("both");
    const own = isBoth ? shapes[Number(fact)] : isBeside && contents.get(`${fact}.-1`);
    const weight = weightOf({ isTrue, isBoth, isBeside, isEvidence });
    return { isTrue, isBoth, group: own || kind, weight };
  };
}

function weightOf(pair: Record<"isTrue" | "isBoth" | "isBeside" | "isEvidence", boolean>): number {
  // Versions of another fact than the question's are found or not: nobody is harmed.
  if (pair.isTrue) return pair.isEvidence ? WEIGHTS_OF.version : 0;
  if (pair.isBoth) return WEIGHTS_OF.both;
  if (pair.isBeside) return WEIGHTS_OF.beside;
  return pair.isEvidence ? WEIGHTS_OF.evidence : WEIGHTS_OF.other;
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** The places of results that are compared. */
function pairsOf(found: readonly Versioned[]): [number, number][] {
  return found
    .slice(0, ANCHORS)
    .flatMap((_, one) =>
      found.slice(one + 1).map((__, at): [number, number] => [one, one + 1 + at]),
    );
}
