import type { Relate } from "../../../embedding/relations/relater.ts";
import type { HasContent } from "../fact-text.ts";
import { chanceOf, logOddsOf } from "../relevance.ts";
import type { Asked } from "./asked-attribute.ts";
import { tellOthers, tellsChange } from "./attribute.ts";
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
 * @param isOver whether the newer one says that what the older one tells is over, so that the question is read in any case
 */
export async function pairSigns(
  question: string,
  [older, newer]: readonly [string, string],
  { trees, isOver = false }: { trees: number; isOver?: boolean },
  relate: Relate,
): Promise<PairSigns | null> {
  const relation = await relate(older, newer);
  if (!relation) return null;
  const { changed, same } = relation;
  const isAsked = isOver || changed >= LEAST_CHANGED;
  const [ofOlder, ofNewer] = isAsked
    ? await Promise.all([relate(question, older), relate(question, newer)])
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
  [older, newer]: readonly [HasContent, HasContent],
  { asked, isOver }: { asked: Asked; isOver: boolean },
): number {
  if (isOver && signs["both answer"] > 0) return MARKED_FROM;
  const changed = chanceOf(signs.changed);
  const areOthers = asked.tellsOne(older, newer) || tellOthers(older, newer) !== null;
  if (areOthers && changed < SURE) return Number.NEGATIVE_INFINITY;
  const areVersions =
    asked.tellBoth(older, newer) || tellsChange(older.content, newer.content, changed);
  return Math.max(areVersions ? 0 : Number.NEGATIVE_INFINITY, sumOfPair(signs));
}
