import type { Embedder } from "../../src/embedding/embedder.ts";
import { SIGNS, signsOf } from "../../src/memories/ranking/hint.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { type Example, fitNewton } from "./logistic.ts";
import { readChangedFacts, readFacts, readNotes } from "./own-sets.ts";
import { halfOf, type Pair, readPairs } from "./pairs.ts";
import { withEvaluationServer } from "./server.ts";

/**
 * `bun test/eval/fit-hints.ts` fits the signs of `src/memories/ranking/hint.ts`: of which memories a
 * hint tells, and whether they have changed. Examples are half of our own pairs, the facts that
 * changed (`changed-dev.txt`), and the nearest memories of other sets, which say other things.
 */

/** Nearest memories of each, and what a pair of them counts. */
const NEAREST = 3;
const OTHERS = 0.15;
/** More alike than that, memories of those sets may say the same. */
const SAME = 0.8;
const PENALTY = 0.01;
/** How much likelier than not a hint must be. */
const LEAST = 1;

await withEvaluationServer(async (_, embedder) => {
  const alike = createLikeness(embedder);
  const pairs = [...halfOf(await readPairs(), "dev"), ...(await readVersions())];
  const told: Example[] = [];
  const changed: Example[] = [];
  for (const { kind, earlier, later } of pairs) {
    const features = signsOf(earlier, later, await alike(earlier, later));
    const isTrue = kind === "same" || kind === "changed";
    told.push({ features, isTrue, weight: 1 });
    if (isTrue) changed.push({ features, isTrue: kind === "changed", weight: 1 });
  }
  const others = [await readFacts(), await readNotes()].flatMap(({ memories }) => memories);
  // Every second one: the rest only judges.
  for (const { content } of others.filter((_, at) => at % 2 === 0)) {
    const near = await Promise.all(
      others.map(async (each) => ({ each, alike: await alike(content, each.content) })),
    );
    const nearest = near.filter(({ alike }) => alike < SAME).sort((a, b) => b.alike - a.alike);
    for (const { each, alike } of nearest.slice(0, NEAREST)) {
      const features = signsOf(content, each.content, alike);
      told.push({ features, isTrue: false, weight: OTHERS });
    }
  }
  const [first, second] = [fitNewton(told, PENALTY), fitNewton(changed, PENALTY)];
  process.stdout.write(`${told.length} pairs\n`);
  for (const [at, [sign]] of SIGNS.entries()) {
    process.stdout.write(
      `${sign} ${first.weights[at]?.toFixed(2)} ${second.weights[at]?.toFixed(2)}\n`,
    );
  }
  process.stdout.write(`BASE ${(first.base - LEAST).toFixed(2)} ${second.base.toFixed(2)}\n`);
});

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

/** Versions of facts, and memories beside them. */
async function readVersions(): Promise<Pair[]> {
  return (await readChangedFacts("dev")).flatMap(({ versions, beside }) => {
    const [first = ""] = versions;
    const last = versions.at(-1) ?? "";
    return [
      ...versions.flatMap((later, at) =>
        versions.slice(0, at).map((earlier): Pair => ({ kind: "changed", earlier, later })),
      ),
      ...beside.flatMap((other): Pair[] => [
        { kind: "related", earlier: first, later: other },
        { kind: "related", earlier: other, later: last },
      ]),
    ];
  });
}
