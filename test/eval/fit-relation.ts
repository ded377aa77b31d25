import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { readFact } from "../../src/memories/ranking/fact-text.ts";
import { differenceOf, relationSigns } from "../../src/memories/ranking/relation.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { readTrees } from "../../src/memories/ranking/trees.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { fitTrees } from "./boosting.ts";
import type { Example } from "./logistic.ts";
import { readBoth, readChangedFacts, readFacts, readNotes } from "./own-sets.ts";
import { type Pair, readPairs } from "./pairs.ts";
import { withEvaluationServer } from "./server.ts";

/**
 * `bun test/eval/fit-relation.ts` fits `src/memories/ranking/relation.json`: what a text is to an earlier one. Examples
 * are our own pairs, the facts that changed, pairs that are both true, and the nearest memories of other sets, which
 * say other things. Nothing of the held-back halves is read.
 */

/** Nearest memories of each, and what a pair of them counts. */
const NEAREST = 3;
const OTHERS = 0.15;
/** What a pair counts of two things that are both true. */
const BOTH = 0.5;
/** More alike than that, memories of those sets may say the same. */
const SAME = 0.8;
const TREES = { trees: 80, leaves: 6, rate: 0.1, leafSize: 12, penalty: 2 };
const PARTS = 5;
const PATH = join(import.meta.dir, "../../src/memories/ranking/relation.json");

interface Judged extends Example {
  pair: Pair;
}

interface Weighed extends Pair {
  weight: number;
}

await withEvaluationServer(async (_, embedder) => {
  const alike = createLikeness(embedder);
  const about: Judged[] = [];
  const changed: Judged[] = [];
  for (const pair of [...(await ownPairs()), ...(await otherPairs(alike))]) {
    const { kind, earlier, later, weight } = pair;
    const [a, b] = [readFact(earlier), readFact(later)];
    const signs = relationSigns(a, b, {
      alike: await alike(earlier, later),
      difference: differenceOf(a, b),
    });
    const features = Object.values(signs);
    const isAbout = kind === "same" || kind === "changed";
    about.push({ features, isTrue: isAbout, weight, pair });
    if (isAbout) changed.push({ features, isTrue: kind === "changed", weight, pair });
  }
  const learned = { about: fitTrees(about, TREES), changed: fitTrees(changed, TREES) };
  await Bun.write(PATH, `${JSON.stringify(learned)}\n`);
  printByLeast(about, changed);
  process.stdout.write(`${about.length} pairs, ${changed.length} of one fact\n`);
});

/**
 * Prints how many hints *changed* are right, and how many changes get one, from a least log-odds on. The trees were
 * fitted without the pair.
 */
function printByLeast(about: readonly Judged[], changed: readonly Judged[]): void {
  const scored = about.map((pair, at) => ({ pair, part: at % PARTS, about: 0, changed: 0 }));
  for (let part = 0; part < PARTS; part++) {
    const kept = new Set(scored.filter((one) => one.part !== part).map(({ pair }) => pair.pair));
    const [forAbout, forChanged] = [about, changed].map((all) =>
      readTrees(
        fitTrees(
          all.filter(({ pair }) => kept.has(pair)),
          TREES,
        ),
      ),
    );
    if (!forAbout || !forChanged) continue;
    for (const one of scored.filter((each) => each.part === part)) {
      const signs = Float64Array.from(one.pair.features);
      one.about = forAbout(signs);
      one.changed = forChanged(signs);
    }
  }
  const own = scored.filter(({ pair }) => pair.weight === 1);
  const all = own.filter(({ pair }) => pair.pair.kind === "changed").length;
  for (let least = -1; least <= 3; least += 0.5) {
    const told = own.filter((one) => one.about >= least && one.changed > 0);
    const right = told.filter(({ pair }) => pair.pair.kind === "changed").length;
    const cells = [least.toFixed(1), (right / told.length).toFixed(3), (right / all).toFixed(3)];
    process.stdout.write(`from ${cells[0]} on: precision ${cells[1]}, recall ${cells[2]}\n`);
  }
}

function createLikeness({ embedContent, model }: Embedder) {
  const vectors = new Map<string, Promise<Float32Array>>();
  const vectorOf = (text: string) => {
    const known = vectors.get(text);
    if (known) return known;
    const made = embedContent(text).then(({ vectors: [first] }) => first ?? new Float32Array(0));
    vectors.set(text, made);
    return made;
  };
  return async (a: string, b: string) =>
    meaningScore(cosineOf(await vectorOf(a), await vectorOf(b)), model.cosines);
}

async function ownPairs(): Promise<Weighed[]> {
  const pairs = (await readPairs("dev")).map((pair) => ({ ...pair, weight: 1 }));
  for (const file of ["changed", "corrections"] as const) {
    for (const { versions, beside } of await readChangedFacts("dev", file)) {
      const last = versions.at(-1) ?? "";
      for (const [at, later] of versions.entries()) {
        for (const earlier of versions.slice(0, at)) {
          pairs.push({ kind: "changed", earlier, later, weight: 1 });
        }
      }
      for (const other of beside) {
        pairs.push({ kind: "related", earlier: versions[0] ?? "", later: other, weight: 1 });
        pairs.push({ kind: "related", earlier: other, later: last, weight: 1 });
      }
    }
  }
  for (const {
    memories: [first, second],
  } of await readBoth("dev")) {
    pairs.push({ kind: "unrelated", earlier: first, later: second, weight: BOTH });
    pairs.push({ kind: "unrelated", earlier: second, later: first, weight: BOTH });
  }
  return pairs;
}

/** Memories of other sets with the nearest ones: every second, since the rest only judges. */
async function otherPairs(alike: (a: string, b: string) => Promise<number>): Promise<Weighed[]> {
  const others = [await readFacts(), await readNotes()].flatMap(({ memories }) => memories);
  const pairs: Weighed[] = [];
  for (const { content } of others.filter((_, at) => at % 2 === 0)) {
    const near = await Promise.all(
      others.map(async (each) => ({ each, alike: await alike(content, each.content) })),
    );
    const nearest = near.filter(({ alike }) => alike < SAME).sort((a, b) => b.alike - a.alike);
    for (const { each } of nearest.slice(0, NEAREST)) {
      pairs.push({ kind: "unrelated", earlier: content, later: each.content, weight: OTHERS });
    }
  }
  return pairs;
}
