import type { Relate } from "../../../embedding/relations/relater.ts";
import type { FactMemory } from "../fact-text.ts";
import type { Question } from "../question.ts";
import { chanceOf, logOddsOf } from "../relevance.ts";
import { tellOthers, tellsChange } from "./attribute.ts";
import { saysOver } from "./over.ts";
import learned from "./pair.json" with { type: "json" };

/** A chance of 0 or 1 has no log-odds. */
const LOWEST = 0.001;
/** The chance of a change below which two texts are hardly versions, so that the question is not read with them. */
const LEAST_CHANGED = 0.2;
/** The chance of a change from which on a memory of another attribute, by its words, is a version all the same. */
const SURE = 0.98;
/** What stands for answers that nobody asked for: neither for nor against. */
const UNASKED = { answers: 0.5 };

/** What tells whether two results of a question are versions of one fact, in log-odds. */
type PairSigns = Record<keyof typeof learned.weights, number>;

/**
 * What the model of relations tells of two results: whether the newer one changes the fact of the older one, and whether
 * both answer the question. Null if it can't tell.
 * @param trees what the trees tell, which know the question and the words
 */
export async function pairSigns(
  { text, facts }: Pick<Question, "text" | "facts">,
  [older, newer]: readonly [FactMemory, FactMemory],
  trees: number,
  relate: Relate,
): Promise<PairSigns | null> {
  const relation = await relate(older.content, newer.content);
  if (!relation) return null;
  const { changed, same } = relation;
  const isAsked = changed >= LEAST_CHANGED || saysOver(facts, older, newer);
  const [ofOlder, ofNewer] = isAsked
    ? await Promise.all([relate(text, older.content), relate(text, newer.content)])
    : [UNASKED, UNASKED];
  if (!ofOlder || !ofNewer) return null;
  const olderAnswers = logOddsOf(ofOlder.answers, LOWEST);
  const newerAnswers = logOddsOf(ofNewer.answers, LOWEST);
  return {
    trees,
    changed: logOddsOf(changed, LOWEST),
    same: logOddsOf(same, LOWEST),
    "older answers": olderAnswers,
    "newer answers": newerAnswers,
    "both answer": Math.min(olderAnswers, newerAnswers),
  };
}

/** From this sum on, versions are not only ordered, but the older one is marked as outdated. */
export const MARKED_FROM: number = learned.marked;

/** How sure it is that two results are versions of one fact: 0 or more if they are. */
function sumOfPair(signs: PairSigns): number {
  return Object.entries(learned.weights).reduce(
    (sum, [sign, weight]) => sum + weight * signs[sign as keyof PairSigns],
    learned.start,
  );
}

/**
 * The same by the model and by the attributes that both tell. Two that tell what is asked are versions, without being sure, and two
 * that tell different attributes are none unless the model is. Where the newer one says that what the older one tells is over, and
 * both answer, they surely are.
 */
export function sumOfRead(
  signs: PairSigns,
  [older, newer]: readonly [FactMemory, FactMemory],
  { asked, facts }: Pick<Question, "asked" | "facts">,
): number {
  if (signs["both answer"] > 0 && saysOver(facts, older, newer)) return MARKED_FROM;
  const changed = chanceOf(signs.changed);
  const areOthers = asked.tellsOne(older, newer) || tellOthers(older, newer) !== null;
  if (areOthers && changed < SURE) return Number.NEGATIVE_INFINITY;
  const areVersions =
    asked.tellBoth(older, newer) || tellsChange(older.content, newer.content, changed);
  return Math.max(areVersions ? 0 : Number.NEGATIVE_INFINITY, sumOfPair(signs));
}
