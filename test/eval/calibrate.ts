import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { chanceSigns, shareOfBest } from "../../src/memories/ranking/chance.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import { chanceOf } from "../../src/memories/ranking/relevance.ts";
import { type ForeignStore, foreignStores, OTHER_WORD } from "./foreign-stores.ts";
import { readGroups } from "./groups.ts";
import { largeStore } from "./large.ts";
import { type Example, type Fitted, fitNewton } from "./logistic.ts";
import { ownGroups } from "./measure-all.ts";
import { readForeign } from "./own-sets.ts";
import { withEvaluationServer } from "./server.ts";
import { createAsker } from "./training/examples.ts";

/**
 * `bun test/eval/calibrate.ts FOLDER` fits `src/memories/ranking/chance.json`: the chance that a
 * memory bears on a question. True examples are the evidence among the first ten results, false ones
 * the best result of each foreign question, in stores of 1 to 10,000 memories. Each kind of store and
 * each outcome counts alike. The floor is where the worst store keeps most slack, by scores that were
 * fitted without the question (five parts, by their texts).
 */

const DEPTH = 10;
const PARTS = 5;
const WANTED = { silent: 0.85, kept: 0.95 };
/** What a question with another word counts: it is nearly one that is answered, and people ask it less often. */
const OTHER_WORD_WEIGHT = 0.5;
const PATH = join(import.meta.dir, "../../src/memories/ranking/chance.json");

/** An example with where it comes from. */
interface Sample extends Example {
  store: string;
  question: string;
  /** The sets that its memories are from. */
  source: string;
  /** Of which kind the question is; evidence has none. */
  kind: string | null;
  /** The names of its features. */
  signs: readonly string[];
  /** What the memory keeps of the best one's chance. */
  share: number;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has the sets?");
await withEvaluationServer(async (_, embedder) => {
  const groups = await readGroups(folder);
  const generic = await readForeign();
  const stores = [
    ...foreignStores([...groups, ...(await ownGroups())], generic),
    ...[true, false].map((hasSessions) => largeStore(groups, generic, { hasSessions })),
  ];
  const samples: Sample[] = [];
  for (const store of stores) samples.push(...(await samplesOf(store, embedder)));
  weigh(samples);
  const partOf = ({ question }: Sample) => String(Bun.hash.crc32(question) % PARTS);
  const floor = chooseFloor(leaveOut(samples, partOf));
  const { base, weights } = fitNewton(samples);
  const learned = {
    floor: round(floor),
    start: round(base),
    weights: Object.fromEntries(
      (samples[0]?.signs ?? []).map((sign, at) => [sign, round(weights[at] ?? 0)]),
    ),
  };
  await Bun.write(PATH, `${JSON.stringify(learned, null, 2)}\n`);
  const print = (title: string, scores: ReadonlyMap<Sample, number>) =>
    process.stdout.write(`${title}\n${describe(scores, floor).join("\n")}\n`);
  print("fitted without the question", leaveOut(samples, partOf));
  print(
    "fitted without the source",
    leaveOut(samples, ({ source }) => source),
  );
  const kinds = new Set(samples.flatMap(({ kind }) => kind ?? []));
  const scores = leaveOut(samples, partOf);
  for (const kind of kinds) {
    const own = [...scores].flatMap(([sample, score]) => (sample.kind === kind ? score : []));
    process.stdout.write(`${kind}: silent ${shareBelow(own, floor).toFixed(3)} (${own.length})\n`);
  }
  process.stdout.write(`floor ${learned.floor}\n`);
});

async function samplesOf(store: ForeignStore, embedder: Embedder): Promise<Sample[]> {
  const asker = await createAsker({ memories: [...store.memories], questions: [] }, embedder);
  const samples: Sample[] = [];
  const ask = async (text: string, evidence: readonly string[] | null, kind: string | null) => {
    const found = await asker.ask(text, WEIGHTS);
    const { ranked, ids } = found;
    const [first] = ranked;
    if (!first) return;
    const signs = chanceSigns(found);
    const features = Object.values(signs);
    for (const one of evidence === null ? [first] : ranked.slice(0, DEPTH)) {
      if (evidence !== null && !evidence.includes(ids.get(one.memory.id) ?? "")) continue;
      const share = shareOfBest(one.sum - signs["best sum"]);
      const isTrue = evidence !== null;
      samples.push({
        ...{ store: store.kind, source: store.file.split("-", 1)[0] ?? "" },
        ...{ question: text, signs: Object.keys(signs), features, isTrue, share, weight: 1, kind },
      });
    }
  };
  for (const { question, evidence } of store.answerable) await ask(question, evidence, null);
  for (const { question, kind } of store.foreign) await ask(question, null, kind);
  asker.close();
  return samples;
}

/** Scores by weights that were fitted to all other parts. */
function leaveOut(
  samples: readonly Sample[],
  partOf: (sample: Sample) => string,
): Map<Sample, number> {
  const scores = new Map<Sample, number>();
  for (const part of new Set(samples.map(partOf))) {
    const fitted = fitNewton(samples.filter((sample) => partOf(sample) !== part));
    for (const sample of samples) {
      if (partOf(sample) === part) scores.set(sample, scoreOf(sample, fitted));
    }
  }
  return scores;
}

/** Has each kind of store and each outcome count alike. */
function weigh(samples: Sample[]): void {
  const counts = new Map<string, number>();
  const keyOf = ({ store, isTrue }: Sample) => `${store} ${isTrue}`;
  const shareOf = ({ kind }: Sample) => (kind === OTHER_WORD ? OTHER_WORD_WEIGHT : 1);
  for (const sample of samples) {
    counts.set(keyOf(sample), (counts.get(keyOf(sample)) ?? 0) + shareOf(sample));
  }
  for (const sample of samples) {
    sample.weight = shareOf(sample) / (counts.get(keyOf(sample)) ?? 1);
  }
}

function scoreOf({ features, share }: Sample, { base, weights }: Fitted): number {
  const sum = features.reduce((all, value, at) => all + value * (weights[at] ?? 0), base);
  return share * chanceOf(sum);
}

/** The score with the most slack in the worst store. */
function chooseFloor(scores: ReadonlyMap<Sample, number>): number {
  const stores = byStore(scores);
  const slackAt = (floor: number) =>
    Math.min(
      ...stores.map(({ answers, foreign }) =>
        Math.min(
          shareBelow(foreign, floor) - WANTED.silent,
          1 - shareBelow(answers, floor) - WANTED.kept,
        ),
      ),
    );
  const floors = Array.from({ length: 120 }, (_, at) => 0.005 * (at + 1));
  return floors.reduce((best, one) => (slackAt(one) > slackAt(best) ? one : best));
}

function describe(scores: ReadonlyMap<Sample, number>, floor: number): string[] {
  return byStore(scores).map(({ store, answers, foreign }) => {
    const silent = shareBelow(foreign, floor).toFixed(3);
    const kept = (1 - shareBelow(answers, floor)).toFixed(3);
    return `${store.padEnd(28)} silent ${silent} (${foreign.length})  kept ${kept} (${answers.length})`;
  });
}

function byStore(scores: ReadonlyMap<Sample, number>) {
  return [...new Set([...scores.keys()].map(({ store }) => store))].map((store) => {
    const of = (isTrue: boolean) =>
      [...scores]
        .filter(
          ([{ kind, ...one }]) =>
            one.store === store && one.isTrue === isTrue && kind !== OTHER_WORD,
        )
        .map(([, score]) => score);
    return { store, answers: of(true), foreign: of(false) };
  });
}

function shareBelow(scores: readonly number[], floor: number): number {
  return scores.filter((score) => score < floor).length / Math.max(1, scores.length);
}

function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
