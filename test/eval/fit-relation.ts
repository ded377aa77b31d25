import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { cosineOf } from "../../src/embedding/embedder.ts";
import { exactFactOf, factOf } from "../../src/memories/ranking/fact-text.ts";
import {
  differenceOf,
  type RelationTrees,
  readRelation,
  relationSigns,
} from "../../src/memories/ranking/relation.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { fitTrees } from "./boosting.ts";
import { hintShares, judgePair } from "./hints.ts";
import type { Example } from "./logistic.ts";
import { readBoth, readChangedFacts, readFacts, readNotes } from "./own-sets.ts";
import { type Pair, readPairs } from "./pairs.ts";
import { withEvaluationServer } from "./server.ts";

/**
 * `bun test/eval/fit-relation.ts` fits `src/memories/ranking/relation.json`: what a text is to an earlier one, for hints
 * and restatements. With `versions` it fits `version-relation.json`, whose sums are signs of versions: run
 * `fit-versions.ts` afterwards. Examples are our own pairs, the facts that changed, pairs that are both true, and the
 * nearest memories of other sets, which say other things. Nothing of the held-back halves is read.
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

/** Pairs of one group are fitted together or not at all: of one fact, one shape of sentence, or one memory. */
interface Weighed extends Pair {
  weight: number;
  group: string;
}

interface Described {
  pair: Weighed;
  alike: number;
  features: number[];
}

const isForVersions = process.argv[2] === "versions";
const read = isForVersions ? factOf : exactFactOf;
const name = isForVersions ? "version-relation.json" : "relation.json";
await withEvaluationServer(async (_, embedder) => {
  const likeness = createLikeness(embedder);
  const examples: Described[] = [];
  for (const pair of [...(await ownPairs()), ...(await otherPairs(likeness))]) {
    const [a, b] = [read({ content: pair.earlier }), read({ content: pair.later })];
    const alike = await likeness(pair.earlier, pair.later);
    const signs = relationSigns(a, b, { alike, difference: differenceOf(a, b) });
    examples.push({ pair, alike, features: Object.values(signs) });
  }
  const path = join(import.meta.dir, "../../src/memories/ranking", name);
  await Bun.write(path, `${JSON.stringify(fitRelation(examples))}\n`);
  process.stdout.write(`${examples.length} pairs\n`);
  if (!isForVersions) printShares(examples);
});

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

/** Prints how good hints and merging are, as the least log-odds grow. The trees were fitted without the pair's group. */
function printShares(examples: readonly Described[]): void {
  const own = examples.filter(({ pair }) => pair.weight === 1);
  const partOf = ({ pair }: Described) => Bun.hash.crc32(pair.group) % PARTS;
  const parts = Array.from({ length: PARTS }, (_, part) =>
    readRelation(fitRelation(examples.filter((one) => partOf(one) !== part))),
  );
  for (let more = -0.5; more <= 1.5; more += 0.25) {
    const judged = own.map((one) =>
      judgePair(one.pair, one.alike, (...texts) => {
        const relation = parts[partOf(one)]?.(...texts);
        if (!relation) throw new Error(`there are no trees without ${one.pair.group}`);
        return { ...relation, about: relation.about - more };
      }),
    );
    const shares = Object.entries(hintShares(judged)).map(
      ([name, share]) => `${name} ${share.toFixed(3)}`,
    );
    process.stdout.write(`least ${more >= 0 ? "+" : "−"}${Math.abs(more)}: ${shares.join(", ")}\n`);
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
  const pairs = (await readPairs("dev")).map(
    (pair): Weighed => ({ ...pair, weight: 1, group: pair.earlier }),
  );
  for (const file of ["changed", "corrections"] as const) {
    for (const { versions, beside } of await readChangedFacts("dev", file)) {
      const [first = "", last = ""] = [versions[0], versions.at(-1)];
      const own = { weight: 1, group: first };
      for (const [at, later] of versions.entries()) {
        for (const earlier of versions.slice(0, at)) {
          pairs.push({ ...own, kind: "changed", earlier, later });
        }
      }
      for (const other of beside) {
        pairs.push({ ...own, kind: "related", earlier: first, later: other });
        pairs.push({ ...own, kind: "related", earlier: other, later: last });
      }
    }
  }
  for (const { shape, memories } of await readBoth("dev")) {
    const [first, second] = memories;
    const own = { kind: "unrelated", weight: BOTH, group: shape } as const;
    pairs.push({ ...own, earlier: first, later: second });
    pairs.push({ ...own, earlier: second, later: first });
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
    const own = { kind: "unrelated", earlier: content, weight: OTHERS, group: content } as const;
    for (const { each } of nearest.slice(0, NEAREST)) {
      pairs.push({ ...own, later: each.content });
    }
  }
  return pairs;
}
