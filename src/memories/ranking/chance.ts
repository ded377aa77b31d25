import learned from "./chance.json" with { type: "json" };
import type { Considered } from "./considered.ts";
import { stemOf } from "./content-words.ts";
import type { Question } from "./question.ts";
import type { Ranked } from "./rank.ts";
import { chanceOf, logOddsOf, rounded } from "./scores.ts";
import { SIGNALS } from "./signals/signals.ts";

/**
 * The score from which on a memory is taken for an answer, age aside: below it, nothing is known
 * about what was asked. Chosen with the weights, by `test/eval/calibrate.ts`.
 */
export const FLOOR: number = learned.floor;

/** What a question's results tell of whether it can be answered here, in the order of the weights. */
export const CHANCE_SIGNS = [
  "best sum",
  "best sum squared",
  "stands out",
  "meaning of the best",
  "words of the best",
  "both of the best",
  "word by word of the best",
  "best meaning",
  "best words",
  "best word by word",
  "rare words of the best",
  "length of the best",
  "understood",
  "words not understood",
  "words asked",
  "rareness asked",
  "one word",
  "no words",
  "absent words",
  "rarest absent word",
  "absent names",
  "memories",
] as const;
type ChanceSign = (typeof CHANCE_SIGNS)[number];

const MEANING = SIGNALS.findIndex(({ name }) => name === "meaning");
const COVERAGE = SIGNALS.findIndex(({ name }) => name === "coverage");
const INTERACTION = SIGNALS.findIndex(({ name }) => name === "interaction");
const WEIGHTS = Float64Array.from(CHANCE_SIGNS, (sign) => learned.weights[sign]);

/** Results among which the best of each is looked for, and those that the best stands out from. */
const FIRST = 10;
const [TAIL_FROM, TAIL_TO] = [5, 12];
/** By what the only results stand out. */
const ALONE = 3;
const SHORTEST = 20;
/** How fast scores fall behind the best, and how far behind they have fallen by half: LEAD / FALL. */
const [FALL, LEAD] = [2, 3];
/** No memory is certain to be an answer. */
const HIGHEST = 0.99;
/** Names: what does not begin the question. */
const NAME = /(?<=\S\s)\p{Lu}[\p{L}\p{N}_]+/gu;

/** @param ranked as `rank` gives them, at least one */
export function chanceSigns(
  question: Question,
  ranked: readonly Ranked[],
  considered: readonly Considered[],
): Record<ChanceSign, number> {
  const { terms, understood } = question;
  const first = ranked.slice(0, FIRST);
  const tail = ranked.slice(TAIL_FROM, TAIL_TO);
  const signalOf = (one: Ranked | undefined, at: number) => one?.signals[at] ?? 0;
  const highest = (at: number) => Math.max(0, ...first.map((one) => signalOf(one, at)));
  const best = bestSum(ranked);
  const behind = tail.reduce((sum, one) => sum + one.sum, 0) / tail.length;
  const meaning = signalOf(ranked[0], MEANING);
  const words = signalOf(ranked[0], COVERAGE);
  const asked = terms.reduce((sum, { rareness }) => sum + rareness, 0);
  const absent = terms.filter((_, at) => !considered.some(({ matches }) => (matches[at] ?? 0) > 0));
  const rareness = absent.map((term) => term.rareness);
  const names = [...question.text.matchAll(NAME)].map(([name]) => stemOf(name.toLowerCase()));
  const isName = (token: string) => names.some((name) => token.startsWith(name));
  return {
    "best sum": best,
    "best sum squared": best * best,
    "stands out": tail.length > 0 ? best - behind : ALONE,
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
    "absent words": rareness.reduce((sum, one) => sum + one, 0) / Math.max(asked, Number.MIN_VALUE),
    "rarest absent word": Math.max(0, ...rareness),
    "absent names": absent.filter(({ forms }) => forms.some(({ token }) => isName(token))).length,
    memories: Math.log(Math.max(1, question.memories)),
  };
}

/**
 * Gives results scores that can be compared between questions and accounts: about the chance that a
 * memory bears on the question, which falls with age as far as the question says. The order stays.
 */
export function calibrate(
  question: Question,
  ranked: readonly Ranked[],
  considered: readonly Considered[],
): Ranked[] {
  // By meaning or words alone there is half of what it takes.
  if (question.mode !== "hybrid" || ranked.length === 0) return [...ranked];
  const signs = chanceSigns(question, ranked, considered);
  const odds = CHANCE_SIGNS.reduce(
    (sum, sign, at) => sum + (WEIGHTS[at] ?? 0) * signs[sign],
    learned.start,
  );
  const known = Math.min(HIGHEST, chanceOf(odds));
  const best = bestSum(ranked);
  const depth = question.decay?.depth ?? 0;
  let [lowestChance, lowestScore] = [1, 1];
  return ranked.map((one) => {
    const own = known * standing(one.sum - best);
    // What comes later has no higher score, however much age has changed the order.
    lowestChance = Math.min(lowestChance, own);
    lowestScore = Math.min(lowestScore, lowestChance * (1 - depth + depth * one.kept));
    return { ...one, logOdds: logOddsOf(own), chance: lowestChance, score: rounded(lowestScore) };
  });
}

/**
 * What a memory keeps of the chance that the best one has, 0 to 1.
 * @param behind its sum less that of the best: 0 and down
 */
export function standing(behind: number): number {
  return chanceOf(FALL * behind + LEAD) / chanceOf(LEAD);
}

function bestSum(ranked: readonly Ranked[]): number {
  return Math.max(...ranked.slice(0, FIRST).map(({ sum }) => sum));
}
