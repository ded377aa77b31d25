import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { cosineOf } from "../../src/embedding/embedder.ts";
import { exactFactOf, factOf } from "../../src/memories/ranking/fact-text.ts";
import { likenessOf } from "../../src/memories/ranking/hint.ts";
import {
  differenceOf,
  type RelationTrees,
  readRelation,
  relationSigns,
} from "../../src/memories/ranking/relation.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { createRandom } from "../support/random.ts";
import { fitTrees } from "./boosting.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { readFamilyPairs } from "./families.ts";
import { hintShares, judgePair, shareOf } from "./hints.ts";
import type { Example } from "./logistic.ts";
import { type Half, readBoth, readChangedFacts, readFacts, readNotes } from "./own-sets.ts";
import { type Pair, readPairs } from "./pairs.ts";
import { plantedFacts } from "./tidy-facts.ts";

/**
 * `bun test/eval/fit-relation.ts` fits `src/memories/ranking/relation.json`: what a text is to an earlier one, for hints
 * and restatements. With `versions` it fits `version-relation.json`, whose sums are signs of versions: run
 * `fit-versions.ts` afterwards. With `likeness` it fits `likeness.json`, for proposals to tidy, from families of facts too.
 * Other examples are our own pairs, the facts that changed, pairs that are both true, and the nearest memories of other
 * sets, which say other things. The held-back halves only judge.
 */

/** Nearest memories of each, and what a pair of them counts. */
const NEAREST = 3;
const OTHERS = 0.15;
/** What a pair counts of two things that are both true. */
const BOTH = 0.5;
/** More alike than that, memories of those sets may say the same. */
const SAME = 0.8;
const TREES = { trees: 80, leaves: 6, rate: 0.1, leafSize: 12, penalty: 2 };
const MANY_TREES = { trees: 300, leaves: 16, rate: 0.12, leafSize: 12, penalty: 2 };
const PARTS = 5;

/** The least chances of proposals that are shown. */
const SHOWN = [0.5, 0.55, 0.6, 0.65, 0.7, 0.8];

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

/** What can be fitted: the file, what reads a fact, the size of the trees, and whether families are learned from. */
const FITS = {
  hints: { file: "relation.json", read: exactFactOf, trees: TREES, withFamilies: false },
  versions: { file: "version-relation.json", read: factOf, trees: TREES, withFamilies: false },
  likeness: { file: "likeness.json", read: exactFactOf, trees: MANY_TREES, withFamilies: true },
} as const;

const what = process.argv[2] ?? "hints";
const fitted = Object.entries(FITS).find(([name]) => name === what)?.[1];
if (!fitted) throw new Error(`what is fitted is one of ${Object.keys(FITS).join(", ")}`);
const { file, read, trees: size, withFamilies } = fitted;
const embedder = rememberingEmbedder();
const likeness = createLikeness(embedder);
const examples: Described[] = [];
const families = withFamilies ? await familyPairs("dev") : [];
for (const pair of [...(await ownPairs("dev")), ...families, ...(await otherPairs(likeness))]) {
  const [a, b] = [read({ content: pair.earlier }), read({ content: pair.later })];
  const alike = await likeness(pair.earlier, pair.later);
  const signs = relationSigns(a, b, { alike, difference: differenceOf(a, b) });
  examples.push({ pair, alike, features: Object.values(signs) });
}
const trees = fitRelation(examples);
const path = join(import.meta.dir, "../../src/memories/ranking", file);
await Bun.write(path, `${JSON.stringify(trees)}\n`);
process.stdout.write(`${examples.length} pairs\n`);
if (what === "hints") printShares(examples);
if (what === "likeness") {
  const relate = readRelation(trees);
  await printProposals("families", await familyPairs("held"), relate);
  await printProposals("own pairs", await ownPairs("held"), relate);
  await printProposals("planted facts", plantedPairs(), relate);
}
await embedder.close();
process.exit(0);

function fitRelation(examples: readonly Described[]): RelationTrees {
  const isAbout = ({ pair: { kind } }: Described) => kind === "same" || kind === "changed";
  const isChanged = ({ pair: { kind } }: Described) => kind === "changed";
  const judged = (all: readonly Described[], holds: (one: Described) => boolean) =>
    all.map((one): Example => ({ ...one, weight: one.pair.weight, isTrue: holds(one) }));
  return {
    about: fitTrees(judged(examples, isAbout), size),
    changed: fitTrees(judged(examples.filter(isAbout), isChanged), size),
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

/** Prints how many pairs are proposed to be tidied, and which share of the proposals is wrong, from some least chances. */
async function printProposals(
  name: string,
  pairs: readonly Weighed[],
  relate: ReturnType<typeof readRelation>,
): Promise<void> {
  for (const chance of SHOWN) {
    const least = { same: chance, changed: chance };
    const judged: { kind: string; said: string | null }[] = [];
    for (const { kind, earlier, later } of pairs) {
      const alike = await likeness(earlier, later);
      const texts = [{ content: earlier }, { content: later }] as const;
      judged.push({ kind, said: likenessOf(...texts, alike, relate, least) });
    }
    const isRight = ({ kind, said }: (typeof judged)[number]) => said === kind;
    const found = (wanted: string) =>
      shareOf(
        judged.filter(({ kind }) => kind === wanted),
        isRight,
      );
    const right = shareOf(
      judged.filter(({ said }) => said),
      isRight,
    );
    const shares = { same: found("same"), changed: found("changed"), wrong: 1 - right };
    const shown = Object.entries(shares).map(([what, share]) => `${what} ${share.toFixed(3)}`);
    process.stdout.write(`${name}, proposed from ${chance}: ${shown.join(", ")}\n`);
  }
}

function plantedPairs(): Weighed[] {
  const texts = plantedFacts(createRandom(1).next);
  return texts.flatMap((one, at) =>
    texts.flatMap((other, place): Weighed[] => {
      if (one.turn > other.turn || (one.turn === other.turn && at >= place)) return [];
      const ofOne = one.value === other.value ? "same" : "changed";
      const kind = one.fact === other.fact ? ofOne : "unrelated";
      const texts = { earlier: one.content, later: other.content };
      return [{ kind, ...texts, weight: 1, group: one.fact }];
    }),
  );
}

async function familyPairs(half: Half): Promise<Weighed[]> {
  return (await readFamilyPairs(half)).map(({ kind, family, ...texts }) => ({
    ...texts,
    ...{ kind: kind === "other" ? "related" : kind, weight: 1, group: family },
  }));
}

async function ownPairs(half: Half): Promise<Weighed[]> {
  const pairs = (await readPairs(half)).map(
    (pair): Weighed => ({ ...pair, weight: 1, group: pair.earlier }),
  );
  for (const file of ["changed", "corrections"] as const) {
    for (const { versions, beside } of await readChangedFacts(half, file)) {
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
  for (const { shape, memories } of await readBoth(half)) {
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
