import { join } from "node:path";
import { readRelation } from "../../src/memories/ranking/relation.ts";
import { hintShares, judgePair } from "./hints.ts";
import { withEvaluationServer } from "./server.ts";
import {
  fitRelation,
  fitRelationParts,
  partOf,
  type RelationExample,
  readRelationExamples,
} from "./training/relation-examples.ts";

/**
 * `bun test/eval/fit-relation.ts` fits `src/memories/ranking/relation.json`: what a text is to an earlier one. Examples
 * are our own pairs, the facts that changed, pairs that are both true, and the nearest memories of other sets, which
 * say other things. Nothing of the held-back halves is read.
 */

const PATH = join(import.meta.dir, "../../src/memories/ranking/relation.json");

await withEvaluationServer(async (_, embedder) => {
  const examples = await readRelationExamples(embedder);
  await Bun.write(PATH, `${JSON.stringify(fitRelation(examples))}\n`);
  printShares(examples);
});

/** Prints how good hints are about pairs that the trees did not see, as the least log-odds of a hint grows. */
function printShares(examples: readonly RelationExample[]): void {
  const parts = fitRelationParts(examples).map(readRelation);
  for (let more = -1; more <= 1.5; more += 0.5) {
    const judged = examples
      .filter(({ pair, likeness }) => pair.weight === 1 && likeness.tokens !== null)
      .map(({ pair, likeness }) =>
        judgePair(pair, likeness, (...texts) => {
          const relation = parts[partOf(pair.group)]?.(...texts);
          if (!relation) throw new Error(`there are no trees without ${pair.group}`);
          return { ...relation, about: relation.about - more };
        }),
      );
    const shares = Object.entries(hintShares(judged)).map(
      ([name, share]) => `${name} ${share.toFixed(3)}`,
    );
    process.stdout.write(`least ${more >= 0 ? "+" : "−"}${Math.abs(more)}: ${shares.join(", ")}\n`);
  }
}
