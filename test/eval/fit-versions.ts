import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { calibrate } from "../../src/memories/ranking/chance.ts";
import type { Question } from "../../src/memories/ranking/question.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import { createSignReader, readTrees } from "../../src/memories/ranking/trees.ts";
import {
  ANCHORS,
  COMPARED_RESULTS,
  createComparison,
  type VersionData,
  type Versioned,
} from "../../src/memories/ranking/versions/order.ts";
import { VERSION_SIGNS } from "../../src/memories/ranking/versions/signs.ts";
import { versionData } from "../../src/memories/rules/search.ts";
import { fitTrees } from "./boosting.ts";
import { readGroups } from "./groups.ts";
import type { Example } from "./logistic.ts";
import { readBoth, readFacts, readNotes } from "./own-sets.ts";
import { withEvaluationServer } from "./server.ts";
import { createAsker } from "./training/examples.ts";
import { areVersions, bothStores, changedStores, type VersionStore } from "./version-stores.ts";

/**
 * `bun test/eval/fit-versions.ts FOLDER` fits `src/memories/ranking/versions/trees.json`: which of the memories that a
 * question finds are versions of one fact. Examples are pairs of results of `dev` stores and of all other sets. The
 * least sum of a version is chosen by trees that were fitted without the fact or the shape of sentence.
 */

const PATH = join(import.meta.dir, "../../src/memories/ranking/versions/trees.json");
const TREES = { trees: 150, leaves: 10, rate: 0.1, leafSize: 15, penalty: 2 };
const PARTS = 4;
/** The share of pairs of two true things that may be taken for versions. */
const MOST_FALSE = 0.005;
/** How much a pair counts that is no version, by what it would break, and one that is. */
const WEIGHTS_OF = { version: 1, both: 3, beside: 2, evidence: 0.5, other: 0.05 };

interface Sample extends Example {
  /** The fact, the shape of sentence, or the set. Samples of one group are fitted together or not at all. */
  group: string;
  isBoth: boolean;
}

const readSigns = createSignReader(VERSION_SIGNS);

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has the sets?");
await withEvaluationServer(async (_, embedder) => {
  const samples = await readSamples(folder, embedder);
  const partOf = ({ group }: Sample) => Bun.hash.crc32(group) % PARTS;
  const scores = new Map<Sample, number>();
  for (let part = 0; part < PARTS; part++) {
    const sumOf = readTrees(
      fitTrees(
        samples.filter((sample) => partOf(sample) !== part),
        TREES,
      ),
    );
    for (const sample of samples) {
      if (partOf(sample) === part) scores.set(sample, sumOf(Float64Array.from(sample.features)));
    }
  }
  const ofBoth = samples.filter(({ isBoth }) => isBoth).map((one) => scores.get(one) ?? 0);
  ofBoth.sort((a, b) => b - a);
  const least = ofBoth[Math.floor(MOST_FALSE * ofBoth.length)] ?? 0;
  const { start, trees } = fitTrees(samples, TREES);
  await Bun.write(PATH, `${JSON.stringify({ least: rounded(least), start, trees })}\n`);
  const versions = samples.filter(({ isTrue }) => isTrue);
  const found = versions.filter((one) => (scores.get(one) ?? 0) > least).length;
  process.stdout.write(
    `${samples.length} pairs; ${found} of ${versions.length} versions from ${least.toFixed(2)} on\n`,
  );
});

async function readSamples(folder: string, embedder: Embedder): Promise<Sample[]> {
  const samples: Sample[] = [];
  const shapes = (await readBoth("dev")).map(({ shape }) => shape);
  const add = async ({ kind, set }: VersionStore) => {
    const asker = await createAsker(set, embedder);
    for (const { question: text, evidence } of set.questions) {
      const { ids, ...results } = await asker.ask(text, WEIGHTS);
      const found = calibrate(results);
      const data = await versionData(asker.table, { ...results, ranked: found });
      for (const { older, newer, signs } of comparePairs(results.question, found, data)) {
        const [a = "", b = ""] = [ids.get(older.memory.id), ids.get(newer.memory.id)];
        const isTrue = areVersions(a, b);
        const isEvidence = evidence.includes(a) || evidence.includes(b);
        // Versions of another fact than the question's are found or not: nobody is harmed.
        if (isTrue && !isEvidence) continue;
        const fact = a.split(".", 1)[0] ?? "";
        const isBeside = fact === b.split(".", 1)[0];
        const isBoth = isBeside && kind.startsWith("both");
        const group = isBoth ? shapes[Number(fact)] : kind.includes("alone") ? firstOf(set) : kind;
        samples.push({
          ...{ features: signs, isTrue, isBoth },
          group: group ?? kind,
          weight: weightOf({ isTrue, isBoth, isBeside, isEvidence }),
        });
      }
    }
    asker.close();
  };
  for (const store of [...(await bothStores("dev")), ...(await changedStores("dev"))]) {
    await add(store);
  }
  for (const set of [await readFacts(), await readNotes()]) {
    const questions = set.questions.filter(({ category }) => category !== "changed");
    await add({ kind: "own", set: { ...set, questions } });
  }
  for (const { name, files } of await readGroups(folder)) {
    for (const { set } of files) await add({ kind: name, set });
  }
  return samples;
}

function weightOf(pair: Record<"isTrue" | "isBoth" | "isBeside" | "isEvidence", boolean>): number {
  if (pair.isTrue) return WEIGHTS_OF.version;
  if (pair.isBoth) return WEIGHTS_OF.both;
  if (pair.isBeside) return WEIGHTS_OF.beside;
  return pair.isEvidence ? WEIGHTS_OF.evidence : WEIGHTS_OF.other;
}

function firstOf({ memories: [first] }: VersionStore["set"]): string {
  return first?.content ?? "";
}

function rounded(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}

/** All pairs of results that are compared, with their signs. */
function comparePairs(question: Question, ranked: readonly Versioned[], data: VersionData) {
  const found = ranked.slice(0, COMPARED_RESULTS);
  const compare = createComparison(question, found, data);
  return found.slice(0, ANCHORS).flatMap((a, one) =>
    found.flatMap((b, other) => {
      const versions = other > one ? compare(one, other) : null;
      const [older, newer] = a.memory.createdAt < b.memory.createdAt ? [a, b] : [b, a];
      return versions ? [{ older, newer, signs: [...readSigns(versions)] }] : [];
    }),
  );
}
