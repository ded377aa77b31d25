import { join } from "node:path";
import { factOf } from "../../src/memories/ranking/fact-text.ts";
import { createSignReader } from "../../src/memories/ranking/trees.ts";
import {
  RELATION_SIGNS,
  type RelationTrees,
  readPair,
} from "../../src/memories/ranking/versions/relation.ts";
import { fitTrees } from "./boosting.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { createLikeness } from "./hints.ts";
import { readOwnPairs } from "./known-pairs.ts";
import type { Example } from "./logistic.ts";
import { readFacts, readNotes } from "./own-sets.ts";
import type { Pair } from "./pairs.ts";

/**
 * `bun test/eval/fit-relation.ts` fits `src/memories/ranking/versions/relation.json`: what a text is to an earlier one, whose
 * sums are signs of versions. Run `fit-versions.ts` afterwards. The examples are our own pairs, the facts that changed, pairs
 * that are both true, and the nearest memories of other sets, which say other things. The held-back halves only judge.
 */

/** Nearest memories of each, and what a pair of them counts. */
const NEAREST = 3;
const OTHERS = 0.15;
/** What a pair counts of two things that are both true. */
const BOTH = 0.5;
/** More alike than that, memories of those sets may say the same. */
const SAME = 0.8;
const TREES = { trees: 80, leaves: 6, rate: 0.1, leafSize: 12, penalty: 2 };

interface Weighed extends Pair {
  weight: number;
}

interface Described {
  pair: Weighed;
  features: number[];
}

const embedder = rememberingEmbedder();
const likeness = createLikeness(embedder);
const readSigns = createSignReader(RELATION_SIGNS);
const examples: Described[] = [];
for (const pair of [...(await ownPairs()), ...(await otherPairs())]) {
  const [a, b] = [factOf({ content: pair.earlier }), factOf({ content: pair.later })];
  const alike = await likeness(pair.earlier, pair.later);
  examples.push({ pair, features: [...readSigns(readPair(a, b, alike))] });
}
const path = join(import.meta.dir, "../../src/memories/ranking/versions/relation.json");
await Bun.write(path, `${JSON.stringify(fitRelation(examples))}\n`);
process.stdout.write(`${examples.length} pairs\n`);
await embedder.close();
process.exit(0);

function fitRelation(examples: readonly Described[]): RelationTrees {
  const isAbout = ({ pair: { kind } }: Described) => kind === "same" || kind === "changed";
  const isChanged = ({ pair: { kind } }: Described) => kind === "changed";
  const judged = (all: readonly Described[], holds: (one: Described) => boolean) =>
    all.map((one): Example => ({ ...one, weight: one.pair.weight, isTrue: holds(one) }));
  return {
    about: fitTrees(judged(examples, isAbout), TREES),
    changed: fitTrees(judged(examples.filter(isAbout), isChanged), TREES),
  };
}

async function ownPairs(): Promise<Weighed[]> {
  const pairs = await readOwnPairs("dev");
  return pairs.map((pair) => ({ ...pair, weight: pair.set === "both" ? BOTH : 1 }));
}

/** Memories of other sets with the nearest ones: every second, since the rest only judges. */
async function otherPairs(): Promise<Weighed[]> {
  const others = [await readFacts(), await readNotes()].flatMap(({ memories }) => memories);
  const pairs: Weighed[] = [];
  for (const { content } of others.filter((_, at) => at % 2 === 0)) {
    const near = await Promise.all(
      others.map(async (each) => ({ each, alike: await likeness(content, each.content) })),
    );
    const nearest = near.filter(({ alike }) => alike < SAME).sort((a, b) => b.alike - a.alike);
    const own = { kind: "unrelated", earlier: content, weight: OTHERS } as const;
    for (const { each } of nearest.slice(0, NEAREST)) {
      pairs.push({ ...own, later: each.content });
    }
  }
  return pairs;
}
