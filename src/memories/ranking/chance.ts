import learned from "./chance.json" with { type: "json" };
import type { Considered } from "./considered.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf, rounded } from "./relevance.ts";
import { shareKept } from "./retention.ts";
import { placeOf } from "./signals/signals.ts";

/**
 * The chance from which on a memory counts as an answer, whatever its age. If no memory reaches it, nothing is
 * known about the question. Chosen with the weights, by `test/eval/calibrate.ts`.
 */
export const FLOOR: number = learned.floor;

/**
 * The share of the best result's chance that a result needs to be returned as an answer. Chosen by
 * `test/eval/answer-set.ts`.
 */
const ANSWER_SHARE = 0.3;

/**
 * The results that count as answers: as likely as the floor, and not much less likely than the best.
 * @param results in order; each with its chance
 */
export function answersAmong<Result extends { chance: number }>(
  results: readonly Result[],
): Result[] {
  const best = Math.max(0, ...results.map(({ chance }) => chance));
  const least = Math.max(FLOOR, ANSWER_SHARE * best);
  return results.filter(({ chance }) => chance >= least);
}

const MEANING = placeOf("meaning");
const COVERAGE = placeOf("coverage");
const INTERACTION = placeOf("interaction");

/** The first results, whose highest signals count, and the places of those that the best is compared with. */
const FIRST = 10;
const [TAIL_FROM, TAIL_TO] = [5, 12];
/** How many of the first results `calibrate` reads. The others don't change what it returns for these. */
export const JUDGED_RESULTS = TAIL_TO;
/** The sign `stands out` when there are too few results to compare with. */
const LONE_LEAD = 3;
const SHORTEST = 20;
/** How many of the first results are compared with the question's words one by one. */
export const MATCHED_RESULTS = 1;
/** How far the least match is below the average, where words were not compared. */
const LEAST_BELOW = 0.2;
/** How fast scores fall with the distance from the best sum. At the distance LEAD / FALL about half is lost. */
const [FALL, LEAD] = [2, 3];
/** The highest chance: no memory is certain to be an answer. */
const HIGHEST = 0.99;

type ChanceSign = keyof typeof learned.weights;

/** What a search has found, from which chances are computed. */
export interface RankedResults {
  question: Question;
  /** In the order of `rankFirst`. */
  ranked: readonly Ranked[];
  considered: readonly Considered[];
  /** Of the first results, by id: how well each word of the question is matched. None in a search without meaning. */
  matches: ReadonlyMap<string, readonly number[]>;
}

/**
 * Signs in a question's results of whether the account's memories can answer it.
 * @param found at least one result
 */
export function chanceSigns({
  question,
  ranked,
  considered,
  matches,
}: RankedResults): Record<ChanceSign, number> {
  const { terms, names, understood, periodWords } = question;
  const first = ranked.slice(0, FIRST);
  const tail = ranked.slice(TAIL_FROM, TAIL_TO);
  const signalOf = (one: Ranked | undefined, at: number) => one?.signals[at] ?? 0;
  const highest = (at: number) => Math.max(0, ...first.map((one) => signalOf(one, at)));
  const best = bestSum(ranked);
  const behind = tail.reduce((sum, one) => sum + one.sum, 0) / tail.length;
  const meaning = signalOf(ranked[0], MEANING);
  const words = signalOf(ranked[0], COVERAGE);
  const asked = terms.reduce((sum, { rareness }) => sum + rareness, 0);
  // The words of a period need not be in a memory from that time.
  const absent = terms.filter(
    ({ token }, at) =>
      !periodWords.has(token) && !considered.some(({ matches }) => (matches[at] ?? 0) > 0),
  );
  const rareness = absent.map((term) => term.rareness);
  const isName = (token: string) => names.some((name) => token.startsWith(name));
  const usual = signalOf(ranked[0], INTERACTION) - LEAST_BELOW;
  const matched = (matches.get(ranked[0]?.memory.id ?? "") ?? []).toSorted((a, b) => a - b);
  const [least = usual, next = least] = matched;
  const absence = rareness.reduce((sum, one) => sum + one, 0) / Math.max(asked, Number.MIN_VALUE);
  return {
    "best sum": best,
    "best sum squared": best * best,
    "stands out": tail.length > 0 ? best - behind : LONE_LEAD,
    "meaning of the best": meaning,
    "words of the best": words,
    "both of the best": meaning * words,
    "word by word of the best": signalOf(ranked[0], INTERACTION),
    "best meaning": highest(MEANING),
    "best words": highest(COVERAGE),
    "best word by word": highest(INTERACTION),
    "rare words of the best": words * Math.log(1 + asked),
    "length of the best": Math.log(Math.max(SHORTEST, ranked[0]?.memory.content.length ?? 0)),
    understood,
    "words not understood": (1 - understood) * words,
    "words asked": Math.log(1 + terms.length),
    "rareness asked": Math.log(1 + asked),
    "one word": terms.length <= 1 ? 1 : 0,
    "no words": terms.length === 0 ? 1 : 0,
    "absent words": absence,
    "rarest absent word": Math.max(0, ...rareness),
    "absent names": absent.filter(({ forms }) => forms.some(({ token }) => isName(token))).length,
    memories: Math.log(Math.max(1, question.memories)),
    "least matched word": least,
    "next least matched word": next,
  };
}

/**
 * Gives results scores that can be compared between questions and accounts: about the chance that a
 * memory answers the question, reduced by age as `question.decay` says. The order stays.
 */
export function calibrate(found: RankedResults): Ranked[] {
  const { question, ranked } = found;
  // A search by meaning or by words alone lacks half of the signs.
  if (question.mode !== "hybrid" || ranked.length === 0) return [...ranked];
  const odds = Object.entries(chanceSigns(found)).reduce(
    (sum, [sign, value]) => sum + learned.weights[sign as ChanceSign] * value,
    learned.start,
  );
  const known = Math.min(HIGHEST, chanceOf(odds));
  const best = bestSum(ranked);
  const judged = ranked.map((one) => {
    const chance = known * shareOfBest(one.sum - best);
    return { ...one, logOdds: logOddsOf(chance), chance };
  });
  return withScores(judged, question);
}

/** Results with scores by their chances and ages. Whatever put them in order, none gets more than the one before it. */
export function withScores<Result extends Ranked>(
  results: readonly Result[],
  { decay }: Pick<Question, "decay">,
): Result[] {
  let [lowestChance, lowestScore] = [1, 1];
  return results.map((one) => {
    lowestChance = Math.min(lowestChance, one.chance);
    lowestScore = Math.min(lowestScore, lowestChance * shareKept(decay, one.retention));
    return { ...one, chance: lowestChance, score: rounded(lowestScore) };
  });
}

/**
 * The share of the best memory's chance that a memory has, 0 to 1.
 * @param behind its sum minus the best sum: 0 or less
 */
export function shareOfBest(behind: number): number {
  return chanceOf(FALL * behind + LEAD) / chanceOf(LEAD);
}

function bestSum(ranked: readonly Ranked[]): number {
  return Math.max(...ranked.slice(0, FIRST).map(({ sum }) => sum));
}
