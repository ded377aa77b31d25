import type { ContentEmbedding, Embedder } from "../../../src/embedding/embedder.ts";
import { readFact } from "../../../src/memories/ranking/fact-text.ts";
import {
  differenceOf,
  type Likeness,
  type RelationTrees,
  relationSigns,
} from "../../../src/memories/ranking/relation.ts";
import { meaningScore } from "../../../src/memories/ranking/relevance.ts";
import { compareTokens } from "../../../src/memories/ranking/token-likeness.ts";
import { cosineOf } from "../../../src/memories/ranking/version-order.ts";
import { fitTrees } from "../boosting.ts";
import type { Example } from "../logistic.ts";
import { readBoth, readChangedFacts, readFacts, readNotes } from "../own-sets.ts";
import { type Pair, readPairs } from "../pairs.ts";

/** Nearest memories of each, and what a pair of them counts. */
const NEAREST = 3;
const OTHERS = 0.15;
/** What a pair counts without token states, as large stores have none. */
const WITHOUT_TOKENS = 0.2;
/** What a pair counts of two things that are both true. */
const BOTH = 0.5;
/** More alike than that, memories of those sets may say the same. */
const SAME = 0.8;
const TREES = { trees: 80, leaves: 6, rate: 0.1, leafSize: 12, penalty: 2 };
/** Parts of the examples that are fitted without each other. */
export const PARTS = 5;

/** The part of a group: the shape of sentence, the fact by its first version, or the set. */
export function partOf(group: string): number {
  return Bun.hash.crc32(group) % PARTS;
}

interface Weighed extends Pair {
  weight: number;
  group: string;
}

/** What there is to learn of a pair. */
export interface RelationExample {
  pair: Weighed;
  likeness: Likeness;
  features: number[];
  weight: number;
}

/** Examples of the `dev` halves: each pair with token states, and again without. */
export async function readRelationExamples(embedder: Embedder): Promise<RelationExample[]> {
  const { alikeOf, likenessOf } = createLikeness(embedder);
  const examples: RelationExample[] = [];
  const add = (pair: Weighed, likeness: Likeness, weight: number) => {
    const [a, b] = [readFact(pair.earlier), readFact(pair.later)];
    const signs = relationSigns(a, b, { ...likeness, difference: differenceOf(a, b) });
    examples.push({ pair, likeness, features: Object.values(signs), weight });
  };
  for (const pair of [...(await ownPairs()), ...(await otherPairs(alikeOf))]) {
    const likeness = await likenessOf(pair.earlier, pair.later);
    add(pair, likeness, pair.weight);
    add(pair, { ...likeness, tokens: null }, WITHOUT_TOKENS * pair.weight);
  }
  return examples;
}

export function fitRelation(examples: readonly RelationExample[]): RelationTrees {
  const isAbout = ({ pair: { kind } }: RelationExample) => kind === "same" || kind === "changed";
  const isChanged = ({ pair: { kind } }: RelationExample) => kind === "changed";
  const judged = (all: readonly RelationExample[], holds: (one: RelationExample) => boolean) =>
    all.map((one): Example => ({ ...one, isTrue: holds(one) }));
  return {
    about: fitTrees(judged(examples, isAbout), TREES),
    changed: fitTrees(judged(examples.filter(isAbout), isChanged), TREES),
  };
}

/** Trees for each part that were fitted without it. */
export function fitRelationParts(examples: readonly RelationExample[]): RelationTrees[] {
  return Array.from({ length: PARTS }, (_, part) =>
    fitRelation(examples.filter(({ pair }) => partOf(pair.group) !== part)),
  );
}

/** Compares texts in meaning as a server does. */
export function createLikeness({ embedContent, model }: Pick<Embedder, "embedContent" | "model">) {
  const embedded = new Map<string, Promise<ContentEmbedding>>();
  const embed = (text: string) => {
    const made = embedded.get(text) ?? embedContent(text);
    embedded.set(text, made);
    return made;
  };
  const alikeOf = async (one: string, other: string) => {
    const [a, b] = [(await embed(one)).vectors[0], (await embed(other)).vectors[0]];
    return meaningScore(a && b ? cosineOf(a, b) : 0, model.cosines);
  };
  const likenessOf = async (earlier: string, later: string): Promise<Likeness> => ({
    alike: await alikeOf(earlier, later),
    tokens: compareTokens((await embed(earlier)).states, (await embed(later)).states),
  });
  return { alikeOf, likenessOf };
}

async function ownPairs(): Promise<Weighed[]> {
  const pairs: Weighed[] = (await readPairs("dev")).map((pair) => ({
    ...pair,
    weight: 1,
    group: pair.earlier,
  }));
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
async function otherPairs(
  alikeOf: (one: string, other: string) => Promise<number>,
): Promise<Weighed[]> {
  const others = [await readFacts(), await readNotes()].flatMap(({ memories }) => memories);
  const pairs: Weighed[] = [];
  for (const { content } of others.filter((_, at) => at % 2 === 0)) {
    const near = await Promise.all(
      others.map(async (each) => ({ each, alike: await alikeOf(content, each.content) })),
    );
    const nearest = near.filter(({ alike }) => alike < SAME).sort((a, b) => b.alike - a.alike);
    const own = { kind: "unrelated", earlier: content, weight: OTHERS, group: content } as const;
    for (const { each } of nearest.slice(0, NEAREST)) {
      pairs.push({ ...own, later: each.content });
    }
  }
  return pairs;
}
