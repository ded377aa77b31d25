import type { Relate } from "../../embedding/relations/relater.ts";
import { withScores } from "./chance.ts";
import { mayBeVersion, UNSPACED } from "./fact-text.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { logOddsOf } from "./relevance.ts";

/** How many of the first results are read together with the question. Each takes 2.5 ms. */
const READ = 5;
/** The share of the best result's chance from which on a result may be the answer too. */
const CLOSE = 0.3;
/**
 * What the model's log-odds that a memory answers a question count beside those of the ranking, and what is added to them.
 * Chosen by `test/eval/fit-answers.ts`.
 */
const LEARNED = { start: 0, weight: 0.6 };
/** Chances of 0 and 1 have no log-odds. */
const LOWEST = 0.0001;

/**
 * Reads the first results together with the question, and puts those first that tell what it asks for: another thing said in
 * the same words is often as near in meaning. It takes time, so it is only done where more than one may be the answer.
 * @param results with comparable scores, best first
 * @param readsOne whether a result that stands out is read too
 */
export async function readAnswers(
  question: Pick<Question, "text" | "decay" | "mode" | "asksForPast">,
  results: readonly Ranked[],
  relate: Relate,
  readsOne: boolean,
): Promise<Ranked[]> {
  if (question.mode !== "hybrid" || question.asksForPast) return [...results];
  const [best] = results;
  const read = results
    .slice(0, READ)
    .filter(({ chance }) => chance >= CLOSE * (best?.chance ?? 1))
    .filter(({ memory }) => mayBeVersion(memory) && !UNSPACED.test(memory.content));
  if (read.length === 0 || (read.length === 1 && !readsOne)) return [...results];
  const added = new Map<Ranked, number>();
  await Promise.all(
    read.map(async (one) => {
      const relation = await relate(question.text, one.memory.content);
      if (!relation) return;
      added.set(one, LEARNED.start + LEARNED.weight * logOddsOf(relation.answers, LOWEST));
    }),
  );
  const highest = Math.max(...results.slice(0, READ).map(newOrder));
  // What was not read is no likelier than the likeliest of those before it.
  const placed = results.map((one, at) => {
    const order = at < READ ? newOrder(one) : Math.min(one.order, highest);
    return { one: { ...one, order }, logOdds: one.logOdds + order - one.order };
  });
  placed.sort((a, b) => b.one.order - a.one.order);
  return withScores(
    placed.map(({ one }) => one),
    placed.map(({ logOdds }) => logOdds),
    question,
  );

  function newOrder(one: Ranked): number {
    return one.order + (added.get(one) ?? 0);
  }
}
